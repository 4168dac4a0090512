import Foundation
import Messaging
import Postgres

/// The SQL files of notification, after those of messaging.
enum NotificationMigrations {
    static func all() throws -> [Migration] {
        try MessagingSchema.migrations()
            + Migration.load(
                directory: Bundle.module.bundleURL.appendingPathComponent("Migrations"),
                set: "notification"
            )
    }
}
