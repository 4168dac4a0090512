public import Foundation

/// Tables and functions that belong together, for instance those of messaging or of a service.
///
/// Tables are numbered migrations, which are applied once. Functions are files without numbers: all of them are applied
/// again when one of them has changed.
public struct SchemaSet: Sendable, Hashable {
    /// Whose they are, for instance "messaging" or "auth".
    public let name: String
    /// In any order; their numbers count within the set.
    public let migrations: [Migration]
    /// In the order of application.
    public let functions: [FunctionFile]

    /// Makes a set.
    public init(name: String, migrations: [Migration] = [], functions: [FunctionFile] = []) {
        self.name = name
        self.migrations = migrations
        self.functions = FunctionFile.ordered(functions)
    }

    /// Reads `Migrations/*.sql` and, where there is such a folder, `Functions/*.sql`.
    ///
    /// - Throws: `MigrationError` for a badly named migration, and what reading throws.
    public static func load(directory: URL, name: String) throws -> SchemaSet {
        SchemaSet(
            name: name,
            migrations: try Migration.load(directory: directory.appendingPathComponent("Migrations"), set: name),
            functions: try FunctionFile.load(directory: directory.appendingPathComponent("Functions"))
        )
    }

    /// The number of its last migration; 0 without any.
    var newest: Int { self.migrations.map(\.number).max() ?? 0 }
}
