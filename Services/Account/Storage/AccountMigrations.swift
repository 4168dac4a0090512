import Foundation
import Messaging
import Postgres

/// The SQL files of account, after those of messaging.
enum AccountMigrations {
    static func all() throws -> [Migration] {
        try MessagingSchema.migrations()
            + Migration.load(directory: Bundle.module.bundleURL.appendingPathComponent("Migrations"), set: "account")
    }
}
