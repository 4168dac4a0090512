public import Foundation

/// How much a transaction sees of others.
public enum PostgresIsolation: String, Sendable {
    /// Each statement sees what was committed before it started.
    case readCommitted = "READ COMMITTED"
    /// All statements see the same; a conflicting write fails with 40001.
    case repeatableRead = "REPEATABLE READ"
    /// As if transactions ran one after the other; conflicts fail with 40001.
    case serializable = "SERIALIZABLE"
}

extension PostgresClient {
    /// Runs `body` in a transaction on a leased connection: commits when it returns, rolls back when it throws.
    ///
    /// What `body` throws is thrown as it is once the rollback is done or the connection is gone. When the task is
    /// cancelled, the running statement is stopped and the transaction rolled back; a commit under way is waited for.
    ///
    /// - Parameters:
    ///   - user: Whom the policies of the tables take for the actor: `transfa.user_id` in this transaction.
    ///   - isolation: How much it sees of others.
    ///   - body: The statements. It may be run again by the caller after an error that is retryable.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws; `PostgresTransactionError` when the transaction cannot begin, commit or roll back;
    ///   `PostgresError` when no connection becomes free in time.
    /// - Important: With `commitOutcomeUnknown` the changes may or may not be there.
    @discardableResult
    public func withTransaction<Value>(
        as user: UUID? = nil,
        isolation: PostgresIsolation = .readCommitted,
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        let lease = Lease(try await self.leases.take())
        // Sent with the first statement of the body.
        lease.begin(with: [beginStatement(isolation)] + (user.map { [becomeUser($0)] } ?? []))
        let value: Value
        do {
            value = try await body(PostgresTransaction(lease: lease))
        } catch {
            throw await self.rollBack(lease, error)
        }
        do throws(PostgresTransactionError) {
            try await self.commit(lease)
        } catch {
            await self.giveBack(lease)
            throw error
        }
        await self.giveBack(lease)
        return value
    }

    /// - Returns: What to throw.
    private func rollBack(_ lease: Lease, _ error: any Error) async -> any Error {
        var rollbackError: PostgresError?
        if !lease.isIdle && !lease.isLost {
            do throws(PostgresError) { _ = try await lease.finish("ROLLBACK") } catch { rollbackError = error }
        }
        if rollbackError != nil { lease.wire.abort() }
        await self.giveBack(lease)
        if let beginError = lease.beginError {
            return PostgresTransactionError(step: .begin, underlying: beginError, bodyError: nil)
        }
        // A transaction whose connection is gone is rolled back by the server.
        if let rollbackError, !rollbackError.isConnectionFailure {
            return PostgresTransactionError(step: .rollback, underlying: rollbackError, bodyError: error)
        }
        return error
    }

    private func commit(_ lease: Lease) async throws(PostgresTransactionError) {
        // A body without a statement has begun nothing.
        if lease.isIdle && !lease.isLost { return }
        let result: PostgresResult?
        do throws(PostgresError) {
            result = try await lease.finish("COMMIT")
        } catch {
            let step = error.code == .connectionLost ? PostgresTransactionError.Step.commitOutcomeUnknown : .commit
            throw PostgresTransactionError(step: step, underlying: error, bodyError: nil)
        }
        // The server answers a commit after a failed statement with a rollback, and without an error.
        guard result?.tag == "COMMIT" else {
            let aborted = PostgresError(.server, "the transaction had failed and was rolled back", sqlState: "25P02")
            throw PostgresTransactionError(step: .commit, underlying: aborted, bodyError: nil)
        }
    }
}

private func beginStatement(_ isolation: PostgresIsolation) -> SQL {
    switch isolation {
    case .readCommitted: "BEGIN ISOLATION LEVEL READ COMMITTED"
    case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
    case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
    }
}
