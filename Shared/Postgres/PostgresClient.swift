import EventLoops
public import Foundation
public import Logging

/// A PostgreSQL client: shared pipelined connections for reads, leased ones for writes and transactions.
///
/// Everything waits for `run()`, which keeps the connections. Nothing is sent twice: what failed with a lost connection
/// is for the caller to repeat.
public final class PostgresClient: Sendable {
    let configuration: PostgresConfiguration
    let logger: Logger
    let loops: [EventLoopThread]
    let readers: ConnectionPool
    let leases: ConnectionPool

    /// Makes a client; it connects in `run()`.
    public init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        let loops = (0..<max(1, configuration.loops)).map { EventLoopThread(name: "postgres-\($0)") }
        self.loops = loops
        self.readers = ConnectionPool(.shared, configuration: configuration, loop: loops[0])
        self.leases = ConnectionPool(.leased, configuration: configuration, loop: loops[0])
    }

    deinit {
        // Each thread ends once the last connection on it is gone.
        for loop in self.loops { loop.stop() }
    }

    /// Whether there is a connection for reads and one for writes.
    public var isConnected: Bool { self.readers.isConnected && self.leases.isConnected }

    // MARK: Reads

    /// Runs a read on a shared connection and returns its rows.
    ///
    /// Writing fails: these connections are read only.
    ///
    /// A cancelled task stops waiting; the statement itself goes on until it is done or `statementTimeout` is over.
    ///
    /// - Parameters:
    ///   - sql: One statement.
    ///   - user: Whom the policies of the tables take for the reader: `transfa.user_id` for this statement alone.
    ///   - file: Where the error says it came from.
    ///   - line: Where the error says it came from.
    /// - Returns: The rows.
    /// - Throws: `PostgresError`.
    public func query(
        _ sql: SQL,
        as user: UUID? = nil,
        file: String = #fileID,
        line: Int = #line
    ) async throws(PostgresError) -> [PostgresRow] {
        do throws(PostgresError) {
            try sql.validate()
            let statements = user.map { [becomeUser($0), sql] } ?? [sql]
            let wire = try await self.readers.take()
            let outcome = await wire.run(Segment(.pipelined(statements), isCancellable: false))
            if let failure = outcome.failure { throw failure }
            return outcome.results.last?.rows ?? []
        } catch {
            throw error.at(file, line)
        }
    }

    // MARK: Leases

    /// Leases a connection for `body`.
    ///
    /// Each statement is a transaction of its own.
    ///
    /// Leave no session state behind, locks and settings included; `withSession` is for that.
    ///
    /// - Throws: `PostgresError` when no connection becomes free in time, and whatever `body` throws.
    @discardableResult
    public func withConnection<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let lease = Lease(try await self.leases.take())
        do {
            let value = try await body(PostgresConnection(lease: lease))
            await self.giveBack(lease)
            return value
        } catch {
            await self.giveBack(lease)
            throw error
        }
    }

    /// Opens a connection of its own for `body` and closes it afterwards: for session locks and settings.
    ///
    /// Its locks are free when this returns; by the end of the connection alone they would be when the server notices.
    ///
    /// - Throws: `PostgresError` when it cannot connect, and whatever `body` throws.
    @discardableResult
    public func withSession<Value>(
        _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connector = Connector(configuration: self.configuration, isReadOnly: false)
        let loop = self.loops[0]
        let wire = try await connector.connect(on: loop)
        async let end = wire.serve()
        let connection = PostgresConnection(lease: Lease(wire))
        let result: Result<Value, any Error>
        do { result = .success(try await body(connection)) } catch { result = .failure(error) }
        await Self.unlock(connection)
        wire.close()
        _ = await end
        return try result.get()
    }

    /// A connection that is lost, or a task that is cancelled, leaves it to the end of the connection.
    private static func unlock(_ connection: PostgresConnection) async {
        if !Task.isCancelled { _ = try? await connection.query("SELECT pg_advisory_unlock_all()") }
    }

    /// Returns a connection to the pool without an open transaction, or ends it.
    func giveBack(_ lease: Lease) async {
        if !lease.isIdle && !lease.isLost {
            do throws(PostgresError) { _ = try await lease.finish("ROLLBACK") } catch { lease.wire.abort() }
        }
        self.leases.giveBack(lease.wire)
    }
}

/// Tells the policies of the tables who asks, until the transaction ends.
func becomeUser(_ user: UUID) -> SQL { "SELECT set_config('transfa.user_id', \(user)::text, true)" }
