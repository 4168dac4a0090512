import Contracts
import CoreMetrics
import Logging
import ServiceKit

/// Shows how many transfers of each route stand in each state, what they hold, and how old the oldest of them is.
struct LedgerMetrics: GaugeService {
    let store: OpenTransferStore
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "open transfers"
    static let interval = Duration.seconds(15)

    /// Counts them.
    func refresh() async throws { self.show(try await self.store.counts()) }

    /// Sets the gauges of each state and route, also of those that have none.
    func show(_ open: [OpenTransfers]) {
        for state in OpenTransferStore.states {
            for route in TransferRoute.allCases.map(\.rawValue) {
                let found = open.first { $0.state == state && $0.route == route }
                let dimensions = [("state", state), ("route", route)]
                self.registry.makeMeter(label: "transfa_transfers_open", dimensions: dimensions)
                    .set(found?.count ?? 0)
                self.registry.makeMeter(label: "transfa_transfers_held_kobo", dimensions: dimensions)
                    .set(found?.amount ?? 0)
                self.registry.makeMeter(label: "transfa_transfers_oldest_seconds", dimensions: dimensions)
                    .set(found?.oldestSeconds ?? 0)
            }
        }
    }
}
