/// A connection that is yours inside `withConnection`, `withSession` or `withTransaction`.
///
/// A cancelled task stops its running statement on the server.
public struct PostgresConnection: Sendable {
    let lease: Lease

    /// Runs a statement and returns its rows.
    ///
    /// - Throws: `PostgresError`; with `connectionLost` it is not known whether the statement took effect.
    public func query(
        _ sql: SQL,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> [PostgresRow] {
        do throws(PostgresError) {
            return try await self.lease.run([sql]).last?.rows ?? []
        } catch { throw error.at(file, line) }
    }

    /// Runs a statement and returns how many rows it inserted, changed, deleted or selected.
    @discardableResult
    public func execute(
        _ sql: SQL,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> Int {
        do throws(PostgresError) {
            return try await self.lease.run([sql]).last?.affectedRows ?? 0
        } catch { throw error.at(file, line) }
    }

    /// Runs a statement that is a transaction of its own and is acknowledged to somebody.
    ///
    /// Neither a cancelled task nor our time limit stops it on the server; when the time is over the connection is
    /// given up. The server's `statement_timeout` ends it, but never its commit.
    ///
    /// - Returns: Its rows.
    /// - Throws: `PostgresError`; with `connectionLost` it is not known whether the statement took effect.
    /// - Important: A commit that waits for a synchronous standby and is stopped is done on the primary alone,
    ///   everybody sees it, and the server calls it a success: a failover would lose it.
    public func commit(
        _ sql: SQL,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> [PostgresRow] {
        do throws(PostgresError) {
            try sql.validate()
            return try await self.lease.finish(sql)?.rows ?? []
        } catch { throw error.at(file, line) }
    }

    /// Runs several statements in one round trip.
    ///
    /// Outside of a transaction they are one of their own.
    ///
    /// - Returns: The rows of each statement.
    /// - Throws: The error of the first statement that failed; those after it have not run.
    public func pipeline(
        _ statements: [SQL],
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> [[PostgresRow]] {
        do throws(PostgresError) {
            return try await self.lease.run(statements).map(\.rows)
        } catch { throw error.at(file, line) }
    }

    /// Runs a text of any number of statements, without bound values and without an answer.
    public func simple(
        _ text: String,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) {
        do throws(PostgresError) { try await self.lease.runSimple(text) } catch { throw error.at(file, line) }
    }
}

/// A connection inside a transaction; see `PostgresClient.withTransaction`.
///
/// The transaction begins with its first statement, in the same round trip.
public struct PostgresTransaction: Sendable {
    let lease: Lease

    /// Runs a statement and returns its rows.
    ///
    /// - Throws: `PostgresError`; after an error of the server only a rollback is possible.
    public func query(
        _ sql: SQL,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> [PostgresRow] {
        try await PostgresConnection(lease: self.lease).query(sql, file: file, line: line)
    }

    /// Runs a statement and returns how many rows it inserted, changed, deleted or selected.
    @discardableResult
    public func execute(
        _ sql: SQL,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> Int {
        try await PostgresConnection(lease: self.lease).execute(sql, file: file, line: line)
    }

    /// Runs several statements in one round trip.
    ///
    /// - Returns: The rows of each statement.
    /// - Throws: The error of the first statement that failed; those after it have not run.
    public func pipeline(
        _ statements: [SQL],
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> [[PostgresRow]] {
        try await PostgresConnection(lease: self.lease).pipeline(statements, file: file, line: line)
    }

    /// Runs a text of any number of statements, without bound values and without an answer.
    ///
    /// It must not end the transaction.
    public func simple(
        _ text: String,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) {
        try await PostgresConnection(lease: self.lease).simple(text, file: file, line: line)
    }
}
