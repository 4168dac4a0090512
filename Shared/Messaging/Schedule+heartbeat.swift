public import Contracts
import Primitives

extension Schedule {
    /// Says every five seconds that a service has published all it knows: transfers wait while this is missing.
    public static func heartbeat<Beat: EventData>(
        of service: ServiceName,
        _ beat: @escaping @Sendable (_ at: String) -> Beat
    ) -> Schedule {
        Schedule("heartbeat", every: .seconds(5)) { transaction in
            try await transaction.publish(beat(Timestamp.text(transaction.now)), about: service.rawValue)
        }
    }
}
