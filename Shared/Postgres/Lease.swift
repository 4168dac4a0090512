import EventLoops

/// The use of one connection by one caller, with what must be known to give it back.
final class Lease: Sendable {
    private struct State {
        /// Statements that start the transaction and wait for the first one of its body.
        var prelude: [SQL] = []
        var beginError: PostgresError?
        var isIdle = true
        var isLost = false
        var isBusy = false
    }

    let wire: Wire
    private let state = Locked(State())

    init(_ wire: Wire) {
        self.wire = wire
    }

    /// No transaction is open on the server.
    var isIdle: Bool { self.state.withLock { $0.isIdle } }
    /// The connection was lost or given up.
    var isLost: Bool { self.state.withLock { $0.isLost } }
    /// Why the transaction did not begin.
    var beginError: PostgresError? { self.state.withLock { $0.beginError } }

    /// Sends these with the next statement, in the same segment: when one of them fails, the statement does not run.
    func begin(with prelude: [SQL]) {
        self.state.withLock { $0.prelude = prelude }
    }

    func run(_ statements: [SQL]) async throws(PostgresError) -> [PostgresResult] {
        for statement in statements { try statement.validate() }
        let prelude = try self.start()
        let outcome = await self.wire.run(Segment(.pipelined(prelude + statements), isCancellable: true))
        self.note(outcome, prelude)
        if let failure = outcome.failure { throw failure }
        return Array(outcome.results.dropFirst(prelude.count))
    }

    func runSimple(_ text: String) async throws(PostgresError) {
        let prelude = try self.start()
        if !prelude.isEmpty {
            let outcome = await self.wire.run(Segment(.pipelined(prelude), isCancellable: true))
            self.note(outcome, prelude)
            if let failure = outcome.failure { throw failure }
            _ = try self.start()
        }
        let outcome = await self.wire.run(Segment(.simple(text), isCancellable: true))
        self.note(outcome, [])
        if let failure = outcome.failure { throw failure }
    }

    /// Runs a statement that a cancelled task must not skip.
    func finish(_ statement: SQL) async throws(PostgresError) -> PostgresResult? {
        _ = try self.start()
        let outcome = await self.wire.runToTheEnd(Segment(.pipelined([statement]), isCancellable: false))
        self.note(outcome, [])
        if let failure = outcome.failure { throw failure }
        return outcome.results.last
    }

    /// - Returns: What has to run before the next statement.
    private func start() throws(PostgresError) -> [SQL] {
        try self.state.withLock { state throws(PostgresError) in
            guard !state.isBusy else {
                throw PostgresError(.unsupported, "one call at a time on a leased connection; see pipeline")
            }
            state.isBusy = true
            defer { state.prelude = [] }
            return state.prelude
        }
    }

    private func note(_ outcome: Segment.Outcome, _ prelude: [SQL]) {
        self.state.withLock { state in
            state.isBusy = false
            state.isIdle = outcome.isIdle
            guard let failure = outcome.failure else { return }
            if failure.isConnectionFailure { state.isLost = true }
            // Not begun: the next statement must not run outside of the transaction.
            if outcome.results.isEmpty { state.prelude = prelude }
            if let index = outcome.failedIndex, index < prelude.count, !failure.isConnectionFailure {
                state.beginError = failure
            }
        }
    }
}
