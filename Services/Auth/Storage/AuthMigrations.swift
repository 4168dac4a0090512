import Foundation
import Postgres

/// The SQL files of auth, after those of messaging.
enum AuthMigrations {
    static func all() throws -> [Migration] {
        let own = Bundle.module.bundleURL
        let messaging = own.deletingLastPathComponent().appendingPathComponent("transfa_Messaging.resources")
        return try Migration.load(directory: messaging.appendingPathComponent("Migrations"), set: "messaging")
            + Migration.load(directory: own.appendingPathComponent("Migrations"), set: "auth")
    }
}
