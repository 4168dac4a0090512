import Contracts
import Foundation
import Messaging
import Primitives

/// Event -> what analytics does.
enum AnalyticsHandlers {
    /// The table.
    static func make(movements: MovementStore) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(WalletCredited.self) { event, transaction in
            let data = event.data
            let effect = try Self.effect(data.paymentID, data.timestamp, Movement.all(of: data), event.attributes)
            try await movements.add(effect, in: transaction)
        }
        handlers.on(TransactionCompleted.self) { event, transaction in
            let data = event.data
            let effect = try Self.effect(data.transactionID, data.timestamp, Movement.all(of: data), event.attributes)
            try await movements.add(effect, in: transaction)
        }
        handlers.on(TransactionReversed.self) { event, transaction in
            try await movements.takeBack(event.data.transactionID, in: transaction)
        }
        // Nothing was counted before the end, and everything was given back.
        handlers.on(TransactionFailed.self) { _, _ in }
        return handlers
    }

    private static func effect(
        _ id: UUID,
        _ timestamp: String,
        _ movements: [Movement],
        _ attributes: EventAttributes
    ) throws -> Effect {
        guard let moment = Timestamp.parse(timestamp) else { throw EventProblem.undecodableData }
        return Effect(
            id: id,
            day: LagosCalendar.day(of: moment),
            part: Topology.partition(of: attributes.subject),
            movements: movements
        )
    }
}
