import Foundation
import Primitives

/// The body of a push.
struct APNsPayload: Encodable {
    private struct APS: Encodable {
        let alert: Alert
        let badge: Int64
        let sound = "default"
        let threadID: String

        private enum CodingKeys: String, CodingKey {
            case alert
            case badge
            case sound
            case threadID = "thread-id"
        }
    }

    private struct Alert: Encodable {
        let title: String
        let body: String
    }

    private let aps: APS
    private let notificationID: String
    private let kind: String
    private let subject: String?

    init(_ message: PushMessage) {
        self.aps = APS(
            alert: Alert(title: message.title, body: message.body),
            badge: message.unread,
            threadID: message.category.rawValue
        )
        self.notificationID = message.notificationID.lowercased
        self.kind = message.kind
        self.subject = message.subject
    }

    private enum CodingKeys: String, CodingKey {
        case aps
        case notificationID = "notification_id"
        case kind
        case subject
    }

    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
