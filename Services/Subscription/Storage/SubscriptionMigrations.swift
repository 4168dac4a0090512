import Foundation
import Messaging
import Postgres

/// The SQL files of subscription, after those of messaging.
enum SubscriptionMigrations {
    static func all() throws -> [Migration] {
        let own = Bundle.module.bundleURL.appendingPathComponent("Migrations")
        return try MessagingSchema.migrations() + Migration.load(directory: own, set: "subscription")
    }
}
