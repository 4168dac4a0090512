import Foundation
import Messaging
import Postgres

/// The SQL files of console, among those that every service has.
enum ConsoleMigrations {
    static func all() throws -> [Migration] {
        let own = Bundle.module.bundleURL.appendingPathComponent("Migrations")
        return try MessagingSchema.migrations(around: Migration.load(directory: own, set: "console"))
    }
}
