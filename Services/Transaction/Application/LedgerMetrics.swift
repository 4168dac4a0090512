import CoreMetrics
import Logging
import ServiceKit

/// Shows how old the oldest transfer in each state is, and so the oldest hold.
struct LedgerMetrics: GaugeService {
    let store: OpenTransferStore
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "open transfers"
    static let interval = Duration.seconds(15)

    /// Counts them.
    func refresh() async throws { self.show(try await self.store.counts()) }

    /// Sets a gauge per state, also of those that have none.
    func show(_ open: [OpenTransfers]) {
        for state in OpenTransferStore.states {
            let found = open.first { $0.state == state }
            let dimensions = [("state", state)]
            self.registry.makeMeter(label: "transfa_transfers_open", dimensions: dimensions).set(found?.count ?? 0)
            self.registry.makeMeter(label: "transfa_transfers_oldest_seconds", dimensions: dimensions)
                .set(found?.oldestSeconds ?? 0)
        }
    }
}
