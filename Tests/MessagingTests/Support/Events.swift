import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives

@testable import Messaging

let ids = UUIDv7Source()

func credited(_ user: UUID, _ amount: Int64) -> WalletCredited {
    WalletCredited(
        userID: user,
        paymentID: user,
        providerPaymentID: "p\(amount)",
        anchorAccountID: "a",
        amount: amount,
        timestamp: "2026-11-21T00:00:00.000Z"
    )
}

/// The bytes of an event as account would publish it, or as another source says that it does.
func envelope(
    _ user: UUID,
    _ amount: Int64,
    id: UUID = ids.next(),
    version: Int = 1,
    subject: String? = nil,
    trace: String? = nil,
    source: String = "account"
) throws -> Data {
    let attributes = EventAttributes(
        id: id,
        source: source,
        type: WalletCredited.type,
        majorVersion: version,
        subject: subject ?? user.lowercased,
        time: "2026-11-21T00:00:00.000Z",
        sequence: amount,
        traceparent: trace
    )
    let json = String(decoding: try JSONEncoder().encode(credited(user, amount)), as: UTF8.self)
    return try EventEnvelope.body(attributes, dataJSON: json)
}

func incoming(
    _ user: UUID,
    _ amount: Int64,
    id: UUID = ids.next(),
    version: Int = 1,
    trace: String? = nil
) throws -> IncomingEvent {
    guard let event = IncomingEvent(body: try envelope(user, amount, id: id, version: version, trace: trace)) else {
        throw HandlerFailure()
    }
    return event
}

/// An id made some time from now.
func id(after offset: Duration) -> UUID { UUIDv7Source(clock: AdjustableClock(offset: offset)).next() }

struct HandlerFailure: Error {}

/// What a service does with credits: it counts them, and fails as long as it is told to.
final class Till: Sendable {
    private let refused: Locked<Set<Int64>>
    private let calls = Locked<[Int64]>([])

    init(refusing amounts: Set<Int64> = []) { self.refused = Locked(amounts) }

    /// The amounts it was called with, whether they took effect or not.
    var seen: [Int64] { self.calls.withLock { $0 } }

    func accept(_ amount: Int64) { self.refused.withLock { _ = $0.remove(amount) } }

    /// Its handlers; `meanwhile` runs before the effect.
    func handlers(_ meanwhile: @escaping @Sendable (Int64) async throws -> Void = { _ in }) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(WalletCredited.self) { event, transaction in
            let (user, amount) = (event.data.userID, event.data.amount)
            self.calls.withLock { $0.append(amount) }
            try await meanwhile(amount)
            try await transaction.stage(
                """
                INSERT INTO sums (user_id, total, events) VALUES (\(user), \(amount), 1)
                ON CONFLICT (user_id) DO UPDATE SET total = sums.total + excluded.total, events = sums.events + 1
                """
            )
            try await transaction.stage("INSERT INTO effects (user_id, amount) VALUES (\(user), \(amount))")
            if self.refused.withLock({ $0.contains(amount) }) { throw HandlerFailure() }
        }
        return handlers
    }
}
