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

    /// The text with each `${name}` replaced.
    func substituted(_ variables: [String: String]) throws(MigrationError) -> String {
        var rest = self.sql[...]
        var text = ""
        while let start = rest.firstRange(of: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else {
                throw MigrationError(.unknownVariable, "\(self.title): a variable without an end")
            }
            let name = String(rest[start.upperBound..<end])
            guard let value = variables[name] else {
                throw MigrationError(.unknownVariable, "\(self.title): \(name)")
            }
            text += rest[..<start.lowerBound] + value
            rest = rest[rest.index(after: end)...]
        }
        return text + rest
    }
}

/// Why the migrations were not applied.
public struct MigrationError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; new ones may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A file is not named like `0001_name.sql`.
        public static let badFileName = Code("badFileName")
        /// Two migrations of a set have the same number.
        public static let duplicateNumber = Code("duplicateNumber")
        /// A file was changed after it had been applied.
        public static let changed = Code("changed")
        /// A migration is new and a later one of its set has been applied already.
        public static let outOfOrder = Code("outOfOrder")
        /// A `${name}` has no value.
        public static let unknownVariable = Code("unknownVariable")
        /// A variable's value holds quotes, semicolons or the like.
        public static let unsafeVariable = Code("unsafeVariable")
        /// The server refused a migration; it has changed nothing.
        public static let failed = Code("failed")
    }

    /// The kind of failure.
    public let code: Code
    /// Which file or variable.
    public let subject: String
    /// What the server said.
    public let underlying: PostgresError?

    init(_ code: Code, _ subject: String, underlying: PostgresError? = nil) {
        self.code = code
        self.subject = subject
        self.underlying = underlying
    }

    /// The kind, the subject and what the server said.
    public var description: String {
        "migration \(self.code): \(self.subject)" + (self.underlying.map { ": \($0)" } ?? "")
    }
}
