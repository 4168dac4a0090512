import Foundation

/// What a message of Clerk says, as far as it matters here.
enum ClerkMessage: Hashable, Sendable {
    /// `user.deleted`: this subject signs in no more.
    case userDeleted(subject: String)
    /// `session.ended`, `session.removed` or `session.revoked`: this session of the subject is over.
    case sessionEnded(subject: String, session: String)
    /// Anything else.
    case other

    /// Reads a body; nil for one that is no message.
    init?(parsing body: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Wire.self, from: Data(body)) else { return nil }
        switch message.type {
        case "user.deleted":
            guard let subject = message.data?.id, Self.isID(subject) else { return nil }
            self = .userDeleted(subject: subject)
        case "session.ended", "session.removed", "session.revoked":
            guard let session = message.data?.id, let subject = message.data?.userID, Self.isID(session),
                Self.isID(subject)
            else { return nil }
            self = .sessionEnded(subject: subject, session: session)
        default: self = .other
        }
    }

    private static func isID(_ text: String) -> Bool { (1...255).contains(text.utf8.count) }

    private struct Wire: Decodable {
        struct Object: Decodable {
            let id: String?
            /// Of a session: whose it is.
            let userID: String?

            private enum CodingKeys: String, CodingKey {
                case id
                case userID = "user_id"
            }
        }

        let type: String
        let data: Object?

        private enum Key: CodingKey {
            case type
            case data
        }

        /// The data of other messages may have any form.
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            self.type = try container.decode(String.self, forKey: .type)
            self.data = try? container.decode(Object.self, forKey: .data)
        }
    }
}
