import Foundation
import Messaging
import Postgres

/// The SQL files of auth, after those of messaging.
enum AuthMigrations {
    static func all() throws -> [Migration] {
        try MessagingSchema.migrations()
            + Migration.load(directory: Bundle.module.bundleURL.appendingPathComponent("Migrations"), set: "auth")
    }
}
