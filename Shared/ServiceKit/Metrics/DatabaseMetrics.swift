import CoreMetrics
import Logging
import Postgres

/// Shows how the connections to Postgres are used, under the names that OpenTelemetry has for them.
struct DatabaseMetrics: GaugeService {
    /// The clients by the role they connect as.
    let clients: [(role: String, client: PostgresClient)]
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "connections to Postgres"
    static let interval = Duration.seconds(5)

    /// Sets the gauges of each pool.
    func refresh() async {
        for (role, client) in self.clients {
            for (pool, use) in client.use {
                let name = ("pool", "\(role)_\(pool)")
                for (state, count) in [("idle", use.idle), ("used", use.used)] {
                    self.registry.makeMeter(
                        label: "db_client_connection_count",
                        dimensions: [name, ("state", state)]
                    ).set(Int64(count))
                }
                self.registry.makeMeter(label: "db_client_connection_pending_requests", dimensions: [name])
                    .set(Int64(use.waiting))
            }
        }
    }
}
