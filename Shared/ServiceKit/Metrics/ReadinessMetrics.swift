import CoreMetrics
import Logging

/// Shows what readiness asks: 1 for a check that is good, 0 for one that is not.
struct ReadinessMetrics: GaugeService {
    let readiness: Readiness
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "readiness"
    static let interval = Duration.seconds(10)

    /// Runs all checks, and sets a gauge for each and one for the answer to whether requests may come.
    func refresh() async {
        let report = await self.readiness.report()
        self.registry.makeMeter(label: "transfa_ready", dimensions: []).set(report.isReady ? 1.0 : 0)
        for check in report.checks {
            self.registry.makeMeter(label: "transfa_ready_check", dimensions: [("check", check.name)])
                .set(check.isGood ? 1.0 : 0)
        }
    }
}
