import CoreMetrics
import Logging
import ServiceKit

/// Shows how many breaks are open and how old the oldest is, and how much of the provider's books ours explain.
struct BreakMetrics: GaugeService {
    let store: ReconciliationStore
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "open breaks"

    /// Counts them.
    func refresh() async throws {
        self.show(try await self.store.openBreaks())
        self.show(try await self.store.explained(of: nil))
    }

    /// Sets the gauges of what is explained.
    func show(_ money: MoneyExplained) {
        self.registry.makeMeter(label: "transfa_reconciliation_listed_kobo", dimensions: []).set(money.listed)
        self.registry.makeMeter(label: "transfa_reconciliation_matched_kobo", dimensions: []).set(money.matched)
        self.registry.makeMeter(label: "transfa_reconciliation_oldest_unmatched_seconds", dimensions: [])
            .set(money.oldestSeconds ?? 0)
    }

    /// Sets a gauge per kind, also of those that have none.
    func show(_ counts: [BreakCount]) {
        for kind in BookDifference.Kind.allCases {
            let count = counts.first { $0.kind == kind.rawValue }
            let dimensions = [("kind", kind.rawValue)]
            self.registry.makeMeter(label: "transfa_reconciliation_breaks", dimensions: dimensions)
                .set(count?.count ?? 0)
            self.registry.makeMeter(label: "transfa_reconciliation_oldest_break_seconds", dimensions: dimensions)
                .set(count?.oldestAge ?? 0)
        }
    }
}
