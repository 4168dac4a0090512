import Foundation
public import Postgres

/// The tables and functions that every service's database has.
public enum MessagingSchema {
    /// All sets of a database in their order: that of messaging, a service's own, that of the audit.
    ///
    /// - Throws: What reading the files throws.
    public static func sets(around own: [SchemaSet] = []) throws -> [SchemaSet] {
        let folder = Bundle.module.bundleURL
        let audit = SchemaSet(
            name: "audit",
            migrations: try Migration.load(directory: folder.appendingPathComponent("Migrations/Audit"), set: "audit"),
            functions: try FunctionFile.load(directory: folder.appendingPathComponent("Functions/Audit"))
        )
        return [try SchemaSet.load(directory: folder, name: "messaging")] + own + [audit]
    }
}
