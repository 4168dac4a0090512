/// What went wrong between us and the server.
///
/// It never holds bound values or row values: of what the server says only the primary message, the SQLSTATE and, for
/// violations, the name of the constraint are kept.
public struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; new ones may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The server refused a statement; see `sqlState`.
        public static let server = Code("server")
        /// The connection ended while the statement was under way: whether it took effect is not known.
        public static let connectionLost = Code("connectionLost")
        /// There was no connection; nothing was sent.
        public static let notConnected = Code("notConnected")
        /// No connection became free in time; nothing was sent.
        public static let leaseTimeout = Code("leaseTimeout")
        /// A bound on waiting work was reached; nothing was sent.
        public static let overloaded = Code("overloaded")
        /// The task was cancelled before the statement was sent, or stopped waiting for its answer.
        public static let cancelled = Code("cancelled")
        /// The client is shutting down.
        public static let closed = Code("closed")
        /// The configuration cannot be used.
        public static let configuration = Code("configuration")
        /// A value could not be bound.
        public static let encoding = Code("encoding")
        /// A value of a row has another type than asked for, or is null.
        public static let decoding = Code("decoding")
        /// The statement can not be used here, for instance `COPY`.
        public static let unsupported = Code("unsupported")
    }

    /// The kind of failure.
    public let code: Code
    /// What happened, without any parameter or row value.
    public let message: String
    /// The five characters the server gave.
    public let sqlState: String?
    /// The constraint that was violated.
    public let constraint: String?
    /// The file of the call that failed, where it is known.
    public private(set) var file: String?
    /// The line of the call that failed, where it is known.
    public private(set) var line: Int?

    init(_ code: Code, _ message: String, sqlState: String? = nil, constraint: String? = nil) {
        self.code = code
        self.message = message
        self.sqlState = sqlState
        self.constraint = constraint
    }

    /// The code, the SQLSTATE, the message and the place.
    public var description: String {
        var text = "Postgres \(self.code)"
        if let sqlState = self.sqlState { text += " \(sqlState)" }
        text += ": \(self.message)"
        if let constraint = self.constraint { text += " (constraint \(constraint))" }
        if let file = self.file, let line = self.line { text += " at \(file):\(line)" }
        return text
    }

    func at(_ file: String, _ line: Int) -> PostgresError {
        guard self.file == nil else { return self }
        var copy = self
        copy.file = file
        copy.line = line
        return copy
    }
}

extension PostgresError {
    /// Whether the same transaction may succeed when it is run again from its start.
    ///
    /// A lost connection is among them: run it again only when the transaction is idempotent.
    public var isRetryable: Bool {
        self.isSerializationFailure || self.isDeadlock || self.isConnectionFailure
    }

    /// The connection was lost or there was none.
    public var isConnectionFailure: Bool { self.code == .connectionLost || self.code == .notConnected }

    /// Another transaction was faster (40001).
    public var isSerializationFailure: Bool { self.sqlState == "40001" }

    /// The server broke a deadlock by ending this transaction (40P01).
    public var isDeadlock: Bool { self.sqlState == "40P01" }

    /// A statement was stopped by its time limit, by an operator or because its task was cancelled (57014).
    public var isStatementCancelled: Bool { self.sqlState == "57014" }

    /// A row with this key exists already (23505).
    ///
    /// - Parameter constraint: The name of the unique constraint or index; nil for any.
    /// - Returns: Whether it is that error.
    public func isUniqueViolation(_ constraint: String? = nil) -> Bool {
        self.sqlState == "23505" && (constraint == nil || constraint == self.constraint)
    }

    /// A row that is referred to does not exist, or a row is still referred to (23503).
    ///
    /// - Parameter constraint: The name of the foreign key; nil for any.
    /// - Returns: Whether it is that error.
    public func isForeignKeyViolation(_ constraint: String? = nil) -> Bool {
        self.sqlState == "23503" && (constraint == nil || constraint == self.constraint)
    }

    /// A check constraint was violated (23514).
    ///
    /// - Parameter constraint: The name of the constraint; nil for any.
    /// - Returns: Whether it is that error.
    public func isCheckViolation(_ constraint: String? = nil) -> Bool {
        self.sqlState == "23514" && (constraint == nil || constraint == self.constraint)
    }
}

/// A transaction that failed in a step of its own.
///
/// What the body throws passes through as it is.
public struct PostgresTransactionError: Error, Sendable, CustomStringConvertible {
    /// The step that failed.
    public enum Step: String, Sendable {
        /// The transaction did not start; nothing has changed.
        case begin
        /// The body failed and so did the rollback; the connection was closed, nothing has changed.
        case rollback
        /// The server refused to commit; nothing has changed.
        case commit
        /// The connection was lost during the commit: whether it took effect is not known.
        case commitOutcomeUnknown
    }

    /// The step that failed.
    public let step: Step
    /// Why it failed.
    public let underlying: PostgresError
    /// What the body had thrown, when a rollback failed.
    public let bodyError: (any Error)?

    /// The step and the error.
    public var description: String { "Postgres transaction, \(self.step.rawValue): \(self.underlying)" }

    /// The commit may or may not have happened: find out before doing it again.
    public var isOutcomeUnknown: Bool { self.step == .commitOutcomeUnknown }

    /// Whether the same transaction may succeed when it is run again; never true when the outcome is unknown.
    public var isRetryable: Bool { !self.isOutcomeUnknown && self.underlying.isRetryable }
}
