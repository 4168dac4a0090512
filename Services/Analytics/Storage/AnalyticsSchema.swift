import Foundation
import Messaging
import Postgres

/// The tables and functions of analytics, among those that every service has.
enum AnalyticsSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "analytics")])
    }
}
