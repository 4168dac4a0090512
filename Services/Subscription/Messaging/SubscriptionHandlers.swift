import Contracts
import Foundation
import Messaging
import Primitives

/// Event -> what subscription does.
enum SubscriptionHandlers {
    /// The table.
    static func make(subscriptions: SubscriptionStore, usage: UsageStore) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(UserCreated.self) { event, transaction in
            try await subscriptions.create(UserID(event.data.userID), in: transaction)
        }
        handlers.on(ExternalSlotTaken.self) { event, transaction in
            let data = event.data
            let count = try Self.count(data.userID, data.month, data.used, step: 1, event.attributes)
            try await usage.record(count, in: transaction)
        }
        handlers.on(ExternalSlotReleased.self) { event, transaction in
            let data = event.data
            let count = try Self.count(data.userID, data.month, data.used, step: -1, event.attributes)
            try await usage.record(count, in: transaction)
        }
        return handlers
    }

    // `used` is nil when `transaction` no longer counts that month: then the change alone is known.
    private static func count(
        _ user: UUID,
        _ month: String,
        _ used: Int?,
        step: Int,
        _ attributes: EventAttributes
    ) throws -> UsageCount {
        guard let month = UsageMonth(text: month) else { throw EventProblem.undecodableData }
        return UsageCount(
            user: UserID(user),
            month: month,
            used: used,
            step: step,
            sequence: attributes.sequence
        )
    }
}
