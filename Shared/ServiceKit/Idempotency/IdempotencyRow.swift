public import Messaging
public import Postgres
import Primitives

/// A transaction that statements can be sent to.
public protocol StatementTransaction: Sendable {
    /// Runs one statement.
    func run(_ statement: SQL) async throws -> [PostgresRow]
    /// Runs two statements in one round trip and returns the rows of the second.
    func run(_ first: SQL, then second: SQL) async throws -> [PostgresRow]
}

extension PostgresTransaction: StatementTransaction {
    /// Runs one statement.
    public func run(_ statement: SQL) async throws -> [PostgresRow] { try await self.query(statement) }
    /// Runs two statements in one round trip and returns the rows of the second.
    public func run(_ first: SQL, then second: SQL) async throws -> [PostgresRow] {
        try await self.pipeline([first, second]).last ?? []
    }
}

extension EventTransaction: StatementTransaction {
    /// Runs one statement.
    public func run(_ statement: SQL) async throws -> [PostgresRow] { try await self.query(statement) }
    /// Runs two statements in one round trip and returns the rows of the second.
    public func run(_ first: SQL, then second: SQL) async throws -> [PostgresRow] {
        try await self.stage(first)
        return try await self.query(second)
    }
}

/// The row of `idempotency_keys` that says how a request was answered.
enum IdempotencyRow {
    /// Waits for a transaction that is answering the same key, then reads its answer.
    ///
    /// Two statements on purpose: under READ COMMITTED only a statement that begins after the lock is held sees what
    /// the other transaction committed.
    static func lockAndRead(
        _ scope: IdempotencyScope,
        in transaction: some StatementTransaction
    ) async throws -> StoredAnswer? {
        let name = "\(scope.user.uuid.lowercased)|\(scope.route)|\(scope.key.text)"
        let rows = try await transaction.run(
            "SELECT pg_advisory_xact_lock(hashtextextended(\(name), 7215))",
            then: Self.select(scope)
        )
        return try Self.answer(rows)
    }

    /// Reads an answer without waiting.
    static func read(_ scope: IdempotencyScope, from postgres: PostgresClient) async throws -> StoredAnswer? {
        try Self.answer(try await postgres.query(Self.select(scope), as: scope.user.uuid))
    }

    private static func select(_ scope: IdempotencyScope) -> SQL {
        """
        SELECT request_hash, status, location, body FROM idempotency_keys
        WHERE user_id = \(scope.user.uuid) AND route = \(scope.route) AND key = \(scope.key.text)
        """
    }

    private static func answer(_ rows: [PostgresRow]) throws -> StoredAnswer? {
        guard let row = rows.first else { return nil }
        let (hash, status, location, body) = try row.decode([UInt8].self, Int16.self, String?.self, String.self)
        return StoredAnswer(requestHash: hash, status: Int(status), location: location, body: body)
    }

    static func write(
        _ answer: StoredAnswer,
        for scope: IdempotencyScope,
        in transaction: some StatementTransaction
    ) async throws {
        _ = try await transaction.run(
            """
            INSERT INTO idempotency_keys (user_id, route, key, request_hash, status, location, body, created_at)
            VALUES (\(scope.user.uuid), \(scope.route), \(scope.key.text), \(answer.requestHash),
                \(Int16(answer.status)), \(answer.location), \(answer.body), transfa_now())
            """
        )
    }
}
