public import Contracts
import Foundation
import Postgres
import Primitives

extension Schedule {
    /// Says every five seconds until when a service has published all it knew: transfers wait while this is long ago.
    ///
    /// What waits in the outbox may be what they must wait for, though a beat may pass it: the broker refuses one event and
    /// takes the next.
    public static func heartbeat<Beat: EventData>(
        of service: ServiceName,
        _ beat: @escaping @Sendable (_ at: String) -> Beat
    ) -> Schedule {
        Schedule("heartbeat", every: .seconds(5)) { transaction in
            let waiting = try await transaction.query("SELECT happened_at FROM unsent_events(1)")
            let oldest = try waiting.first?.decode(Date.self) ?? transaction.now
            let told = min(oldest, transaction.now)
            try await transaction.publish(beat(Timestamp.text(told)), about: service.rawValue)
        }
    }
}
