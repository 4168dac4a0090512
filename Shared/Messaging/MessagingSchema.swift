import Foundation
public import Postgres

/// The tables and functions that every service's database has.
public enum MessagingSchema {
    /// The sets of a database in their order: that of messaging, a service's own.
    ///
    /// - Throws: What reading the files throws.
    public static func sets(around own: [SchemaSet] = []) throws -> [SchemaSet] {
        [try SchemaSet.load(directory: Bundle.module.bundleURL, name: "messaging")] + own
    }
}
