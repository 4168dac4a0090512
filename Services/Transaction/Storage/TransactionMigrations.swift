import Foundation
import Messaging
import Postgres

/// The SQL files of transaction, after those of messaging.
enum TransactionMigrations {
    static func all() throws -> [Migration] {
        try MessagingSchema.migrations()
            + Migration.load(
                directory: Bundle.module.bundleURL.appendingPathComponent("Migrations"),
                set: "transaction"
            )
    }
}
