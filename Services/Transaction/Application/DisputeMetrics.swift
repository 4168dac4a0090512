import CoreMetrics
import Logging
import ServiceKit

/// Shows how many reported problems are not closed, and how many should have been answered.
struct DisputeMetrics: GaugeService {
    let store: DisputeStore
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "open disputes"

    /// Sets both gauges.
    func refresh() async throws {
        let (open, overdue) = try await self.store.counts()
        self.registry.makeMeter(label: "transfa_disputes_open", dimensions: []).set(open)
        self.registry.makeMeter(label: "transfa_disputes_overdue", dimensions: []).set(overdue)
    }
}
