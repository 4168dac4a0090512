import Contracts
import Messaging
import Primitives

/// Event -> what analytics does.
enum AnalyticsHandlers {
    /// The table.
    static func make(money: Projection, people: CounterpartyStore) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(money)
        handlers.on(UserCreated.self) { event, transaction in
            try await people.learn(event.data.username, of: UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserErased.self) { event, transaction in
            try await people.forget(UserID(event.data.userID), in: transaction)
        }
        return handlers
    }
}
