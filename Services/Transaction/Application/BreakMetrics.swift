import CoreMetrics
import Logging
import ServiceKit
import ServiceLifecycle

/// Shows how many breaks are open and how old the oldest is.
struct BreakMetrics: Service {
    let store: ReconciliationStore
    let registry: PrometheusRegistry
    let logger: Logger

    private static let interval = Duration.seconds(30)

    /// Runs until told to stop.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    self.show(try await self.store.openBreaks())
                } catch {
                    self.logger.warning("open breaks are not known", metadata: ["error": "\(type(of: error))"])
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
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
