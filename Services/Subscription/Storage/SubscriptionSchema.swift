import Foundation
import Messaging
import Postgres

/// The tables and functions of subscription, among those that every service has.
enum SubscriptionSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "subscription")])
    }
}
