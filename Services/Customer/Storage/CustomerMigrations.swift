import Foundation
import Messaging
import Postgres

/// The SQL files of customer, among those that every service has.
enum CustomerMigrations {
    static func all() throws -> [Migration] {
        let own = Bundle.module.bundleURL.appendingPathComponent("Migrations")
        return try MessagingSchema.migrations(around: Migration.load(directory: own, set: "customer"))
    }
}
