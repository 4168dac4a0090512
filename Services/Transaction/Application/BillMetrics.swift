import CoreMetrics
import Logging
import ServiceKit

/// Shows how many bills of the provider are of kinds of which nobody has said where they belong.
struct BillMetrics: GaugeService {
    let store: BillStore
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "unforeseen bills"

    /// Counts them.
    func refresh() async throws { self.show(try await self.store.unforeseen()) }

    /// Sets the gauge.
    func show(_ count: Int64) {
        self.registry.makeMeter(label: "transfa_provider_bills_unforeseen", dimensions: []).set(count)
    }
}
