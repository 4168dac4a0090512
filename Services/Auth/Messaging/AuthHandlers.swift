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
                reason: event.data.reason,
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        handlers.on(CustomerDetailsRefused.self) { event, transaction in
            try await users.setRefusal(event, in: transaction)
        }
        return handlers
    }
}
