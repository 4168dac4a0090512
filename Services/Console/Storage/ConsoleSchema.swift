import Foundation
import Messaging
import Postgres

/// The tables and functions of console, among those that every service has.
enum ConsoleSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "console")])
    }
}
