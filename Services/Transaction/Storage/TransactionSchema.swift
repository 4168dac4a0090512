import Foundation
import Messaging
import Postgres

/// The tables and functions of transaction, among those that every service has.
enum TransactionSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "transaction")])
    }
}
