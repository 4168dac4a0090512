import CoreMetrics
import Logging
import Messaging

/// Shows how many events wait to be published, and for how long the oldest has: of every service that publishes.
struct OutboxMetrics: GaugeService {
    let operations: MessagingOperations
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "unsent events"
    static let interval = Duration.seconds(15)

    /// Sets both gauges.
    func refresh() async throws {
        let lag = try await self.operations.outboxLag()
        self.registry.makeMeter(label: "transfa_outbox_unsent", dimensions: []).set(lag.unsent)
        self.registry.makeMeter(label: "transfa_outbox_oldest_seconds", dimensions: []).set(lag.oldestUnsentSeconds)
    }
}
