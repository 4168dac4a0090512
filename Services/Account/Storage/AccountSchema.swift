import Foundation
import Messaging
import Postgres

/// The tables and functions of account, among those that every service has.
enum AccountSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "account")])
    }
}
