import Foundation
import Messaging
import Postgres

/// The tables and functions of notification, among those that every service has.
enum NotificationSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "notification")])
    }
}
