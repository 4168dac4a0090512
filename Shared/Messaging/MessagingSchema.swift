import Foundation
public import Postgres

/// The tables that every service's database has.
public enum MessagingSchema {
    /// The migrations to run before a service's own.
    public static func migrations() throws -> [Migration] {
        try Migration.load(directory: Bundle.module.bundleURL.appendingPathComponent("Migrations"), set: "messaging")
    }
}
