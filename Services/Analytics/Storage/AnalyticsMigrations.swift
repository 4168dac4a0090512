import Foundation
import Messaging
import Postgres

/// The SQL files of analytics, after those of messaging.
enum AnalyticsMigrations {
    static func all() throws -> [Migration] {
        let own = Bundle.module.bundleURL.appendingPathComponent("Migrations")
        return try MessagingSchema.migrations() + Migration.load(directory: own, set: "analytics")
    }
}
