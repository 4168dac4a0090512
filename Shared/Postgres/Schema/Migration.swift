public import Foundation

/// One numbered SQL file.
///
/// Files are never changed after release.
public struct Migration: Sendable, Hashable {
    /// Whose tables these are, for instance "messaging" or "auth"; numbers count within a set.
    public let set: String
    /// The position within the set.
    public let number: Int
    /// What the file name says after the number.
    public let name: String
    /// The text of the file.
    public let sql: String

    /// Makes a migration.
    public init(set: String, number: Int, name: String, sql: String) {
        self.set = set
        self.number = number
        self.name = name
        self.sql = sql
    }

    /// Reads the files `0001_name.sql` of a folder in the order of their numbers.
    ///
    /// - Throws: `MigrationError` when a `.sql` file has no number or two have the same, and what reading throws.
    public static func load(directory: URL, set: String) throws -> [Migration] {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        let migrations = try files.filter { $0.pathExtension == "sql" }.map { file in
            let parts = file.deletingPathExtension().lastPathComponent.split(separator: "_", maxSplits: 1)
            guard parts.count == 2, parts[0].count == 4, let number = Int(parts[0]), number > 0 else {
                throw MigrationError(.badFileName, "\(set)/\(file.lastPathComponent)")
            }
            let sql = try String(contentsOf: file, encoding: .utf8)
            return Migration(set: set, number: number, name: String(parts[1]), sql: sql)
        }
        return migrations.sorted { $0.number < $1.number }
    }

    /// The set, the number and the name.
    var title: String { "\(self.set)/\(self.number)_\(self.name)" }
}
