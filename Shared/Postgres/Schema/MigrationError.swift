/// Why migrations or functions were not applied.
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
        /// A function file has `CREATE FUNCTION` or `CREATE PROCEDURE` without `OR REPLACE`.
        public static let notRepeatable = Code("notRepeatable")
        /// A function is made twice, or with the name of a schema.
        public static let duplicateFunction = Code("duplicateFunction")
        /// The server refused functions of a set; no function has changed.
        public static let functionsFailed = Code("functionsFailed")
    }

    /// The kind of failure.
    public let code: Code
    /// Which set and file, or which variable.
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
