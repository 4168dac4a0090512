import Foundation
import Messaging
import Postgres

/// The tables and functions of auth, among those that every service has.
enum AuthSchema {
    static func sets() throws -> [SchemaSet] {
        try MessagingSchema.sets(around: [.load(directory: Bundle.module.bundleURL, name: "auth")])
    }
}
