import CoreMetrics
import Logging
import ServiceKit

/// Shows whether a recovery is open: nothing is sent and no payment accepted then.
struct RecoveryMetrics: GaugeService {
    let store: RecoveryStore
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "recovery"
    static let interval = Duration.seconds(15)

    /// Asks.
    func refresh() async throws { self.show(try await self.store.open()) }

    /// Sets the gauge.
    func show(_ open: Recovery?) {
        self.registry.makeMeter(label: "transfa_recovery_open", dimensions: []).set(Int64(open == nil ? 0 : 1))
    }
}
