import Foundation
public import Postgres

/// The tables that every service's database has.
public enum MessagingSchema {
    /// All migrations of a database: those of messaging, and a service's own.
    ///
    /// - Throws: What reading the files throws.
    public static func migrations(around own: [Migration] = []) throws -> [Migration] {
        let folder = Bundle.module.bundleURL.appendingPathComponent("Migrations")
        return try Migration.load(directory: folder, set: "messaging") + own
    }
}
