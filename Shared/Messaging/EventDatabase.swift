import Foundation
public import Postgres
public import Primitives

/// A service's database as its code writes it: every transaction may publish events and enqueue jobs.
public struct EventDatabase: Sendable {
    /// For reads that belong to no transaction.
    public let client: PostgresClient

    let tools: MessagingTools
    private let committed: WakeSignal

    init(client: PostgresClient, tools: MessagingTools, committed: WakeSignal) {
        self.client = client
        self.tools = tools
        self.committed = committed
    }

    /// Runs `body` in a transaction and wakes relay and workers after the commit.
    ///
    /// - Parameters:
    ///   - user: Whose rows the handler role may see; nil for the worker role.
    ///   - cause: What caused the work.
    ///   - body: The work.
    /// - Returns: What `body` returns, once it is committed.
    /// - Throws: What `body` throws, after rolling back; `PostgresError` and `PostgresTransactionError`.
    public func transaction<Value: Sendable>(
        as user: UserID? = nil,
        cause: Cause,
        _ body: (EventTransaction) async throws -> Value
    ) async throws -> Value {
        let value = try await self.client.withTransaction(as: user?.uuid) { sql in
            let pipeline = StatementPipeline(sql)
            let value = try await body(EventTransaction(pipeline, cause: cause, tools: self.tools))
            try await pipeline.flush()
            return value
        }
        self.committed.wake()
        return value
    }

    /// Counts what was committed here, and wakes of `wake`.
    public var commits: UInt64 { self.committed.generation }

    /// Returns when something was committed here after `seen` commits, after `limit`, or on cancellation.
    ///
    /// For loops of a service that look for what was committed; what other replicas commit only a poll finds.
    public func waitForCommit(after seen: UInt64, upTo limit: Duration) async {
        await self.committed.wait(after: seen, upTo: limit)
    }

    /// Tells relay and workers that rows were committed in another way, such as by a database function.
    public func wake() { self.committed.wake() }
}
