import Foundation
import Messaging
import Postgres

/// The SQL files of customer, after those of messaging.
enum CustomerMigrations {
    static func all() throws -> [Migration] {
        try MessagingSchema.migrations()
            + Migration.load(directory: Bundle.module.bundleURL.appendingPathComponent("Migrations"), set: "customer")
    }
}
