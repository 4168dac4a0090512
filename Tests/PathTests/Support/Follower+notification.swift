import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport

@testable import NotificationService

/// Notification, as far as it follows the ledger.
struct NotificationFollower: Follower {
    let service: ServiceDatabase

    var handlers: EventHandlers { Self.handlers }
    static var handlers: EventHandlers {
        NotificationHandlers.make(telling: FileNotices(inbox: InboxStore(), pushes: PushStore()))
    }

    static func with(_ body: (NotificationFollower) async throws -> Void) async throws {
        try await withServiceDatabase(.notification, schema: try NotificationSchema.sets(), handlers: Self.handlers) {
            try await body(NotificationFollower(service: $0))
        }
    }

    /// Titles of the messages that somebody has, oldest first.
    func titles(_ user: UserID) async throws -> [String] {
        try await InboxStore().page(user, before: nil, limit: 100, on: self.requests).map(\.title).reversed()
    }
}
