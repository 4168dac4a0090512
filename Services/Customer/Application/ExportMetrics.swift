import CoreMetrics
import Foundation
import Logging
import Messaging
import Primitives
import ServiceKit

/// How many exports failed within a day: a person waits for each, and the law gives a month.
struct ExportMetrics: GaugeService {
    let store: ExportStore
    let database: EventDatabase
    let clock: any TimeSource
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "failed exports"

    /// Sets the gauge.
    func refresh() async throws {
        let failed = try await self.store.failures(
            since: self.clock.now.addingTimeInterval(-PersonalExport.day),
            on: self.database
        )
        self.registry.makeMeter(label: "transfa_exports_failed", dimensions: []).set(failed)
    }
}
