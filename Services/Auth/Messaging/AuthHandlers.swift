import Contracts
import Messaging
import Primitives

/// Event -> what auth does.
enum AuthHandlers {
    /// The table.
    static func make(users: UserStore) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(CustomerVerified.self) { event, transaction in
            try await users.setVerification(
                UserID(event.data.userID),
                Open(.approved),
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        handlers.on(CustomerRejected.self) { event, transaction in
            try await users.setVerification(
                UserID(event.data.userID),
                event.data.status,
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        return handlers
    }
}
