import Foundation
import Messaging
import Postgres

/// The tables and functions of customer, among those that every service has.
enum CustomerSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "customer")])
    }
}
