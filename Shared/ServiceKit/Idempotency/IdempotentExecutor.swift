import HTTPTypes
public import Messaging
public import Postgres
import Primitives
public import Redis

/// Lets a request take effect once however often it is sent.
///
/// The truth is a row of `idempotency_keys`, written in the transaction of the effect: whatever crashes, either both
/// are there or none. Redis only saves work: it holds a lease while the request runs and a copy of the answer, which
/// only the lease's holder writes.
///
/// - Same key and request: the stored answer, with `Idempotency-Replayed: true`.
/// - Same key, another request: 422 `idempotency_key_reused`.
/// - Still running: the second waits, at first for the copy, then for the first's transaction, and replays; 409
///   `idempotency_key_in_use` when that takes longer than a statement may.
/// - Not stored, so that a repetition runs again: 400, 401, 403, 409, 429 and 5xx.
public struct IdempotentExecutor: Sendable {
    private let postgres: PostgresClient
    private let lease: IdempotencyLease?

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - postgres: The handler role's client.
    ///   - redis: Without it every decision takes a transaction, and is the same.
    public init(postgres: PostgresClient, redis: RedisClient?) {
        self.postgres = postgres
        self.lease = redis.map(IdempotencyLease.init)
    }

    /// The answer that is stored for a request; nil if there is none.
    ///
    /// For endpoints that accept in another way and store their answer themselves: authenticate, ask this, check the approval, accept.
    ///
    /// - Throws: 422 `idempotency_key_reused`.
    public func storedAnswer(for scope: IdempotencyScope) async throws -> APIResponse? {
        let stored = try await IdempotencyRow.read(scope, from: self.postgres)
        return try stored?.replay(for: scope)
    }

    /// Runs `body` once for its key, in a plain transaction.
    ///
    /// The answer of `body` is stored in its own transaction. An error rolls everything back; one that is a final
    /// refusal, such as a 422, is stored on its own then. What a refusal must leave behind, such as a spent nonce, is
    /// kept only when `body` returns it as an answer.
    public func run(
        _ scope: IdempotencyScope,
        requestID: String? = nil,
        _ body: (PostgresTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        try await self.execute(scope, requestID: requestID) { work in
            try await self.postgres.withTransaction(as: scope.user.uuid) { transaction in
                try await work.perform(in: transaction) { try await body(transaction) }
            }
        }
    }

    /// Runs `body` once for its key, in a transaction that may publish events and enqueue jobs.
    public func run(
        _ scope: IdempotencyScope,
        in database: EventDatabase,
        context: AppRequestContext,
        _ body: (EventTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        try await self.execute(scope, requestID: context.requestIDText) { work in
            try await database.transaction(as: scope.user, cause: context.cause) { transaction in
                try await work.perform(in: transaction) { try await body(transaction) }
            }
        }
    }

    private func execute(
        _ scope: IdempotencyScope,
        requestID: String?,
        _ attempt: (IdempotentWork) async throws -> IdempotentOutcome
    ) async throws -> APIResponse {
        let token: String?
        switch try await self.begin(scope) {
        case .copy(let answer): return try answer.replay(for: scope)
        case .ours(let lease): token = lease
        }
        do {
            let outcome = try await self.outcome(scope, requestID: requestID, attempt)
            await self.settle(scope, token: token, outcome.stored)
            guard !outcome.isReplay, let response = outcome.response else {
                guard let stored = outcome.stored else { throw APIError.unexpected }
                return try stored.replay(for: scope)
            }
            return response
        } catch {
            await self.settle(scope, token: token, nil)
            throw error
        }
    }

    /// How a request begins.
    private enum Beginning {
        case copy(StoredAnswer)
        /// To be run, with the lease if Redis gave it.
        case ours(String?)
    }

    private func begin(_ scope: IdempotencyScope) async throws -> Beginning {
        guard let lease = self.lease else { return .ours(nil) }
        var machine = IdempotencyMachine()
        while true {
            switch machine.next(await lease.take(scope)) {
            case .replay(let answer): return .copy(answer)
            case .run(let token): return .ours(token)
            case .wait(let pause): try await Task.sleep(for: pause)
            }
        }
    }

    /// Whoever holds no lease, because Redis was away or somebody else has it, leaves nothing there.
    private func settle(_ scope: IdempotencyScope, token: String?, _ stored: StoredAnswer?) async {
        guard let lease = self.lease, let token else { return }
        if let stored {
            await lease.keep(stored, for: scope, token: token)
        } else {
            await lease.release(scope, token: token)
        }
    }

    static let inUse = APIError(
        .conflict,
        code: "idempotency_key_in_use",
        detail: "A request with this key is still running.",
        source: .header("Idempotency-Key"),
        headers: [.retryAfter: "1"]
    )

    private func outcome(
        _ scope: IdempotencyScope,
        requestID: String?,
        _ attempt: (IdempotentWork) async throws -> IdempotentOutcome
    ) async throws -> IdempotentOutcome {
        do {
            return try await attempt(IdempotentWork(scope: scope))
        } catch let error as NotStored {
            return IdempotentOutcome(response: error.response, stored: nil, isReplay: false)
        } catch let error as PostgresError where Self.isWaitTooLong(error) {
            throw Self.inUse
        } catch let error as any APIErrorConvertible where StoredAnswer.isFinal(error.apiError.status) {
            return try await self.store(error.apiError, for: scope, requestID: requestID)
        }
    }

    /// A final refusal was thrown and its transaction rolled back: the refusal itself is stored on its own.
    private func store(
        _ error: APIError,
        for scope: IdempotencyScope,
        requestID: String?
    ) async throws -> IdempotentOutcome {
        let body = error.body(requestID: requestID)
        let response = APIResponse(error.status, body: body, headers: error.headers)
        return try await self.postgres.withTransaction(as: scope.user.uuid) { transaction in
            try await IdempotentWork(scope: scope).perform(in: transaction) { response }
        }
    }

    /// The statement waited for the other transaction until its timeout.
    private static func isWaitTooLong(_ error: PostgresError) -> Bool {
        error.sqlState == "57014" || error.sqlState == "55P03"
    }
}

/// What came of one attempt.
struct IdempotentOutcome: Sendable {
    let response: APIResponse?
    let stored: StoredAnswer?
    let isReplay: Bool
}

/// One attempt inside a transaction.
struct IdempotentWork: Sendable {
    let scope: IdempotencyScope

    func perform(
        in transaction: some StatementTransaction,
        _ body: () async throws -> APIResponse
    ) async throws -> IdempotentOutcome {
        if let known = try await IdempotencyRow.lockAndRead(self.scope, in: transaction) {
            return IdempotentOutcome(response: nil, stored: known, isReplay: true)
        }
        let response = try await body()
        guard StoredAnswer.isFinal(response.status) else {
            throw NotStored(response: response)
        }
        let answer = StoredAnswer(response, for: self.scope)
        try await IdempotencyRow.write(answer, for: self.scope, in: transaction)
        return IdempotentOutcome(response: response, stored: answer, isReplay: false)
    }
}

/// An answer that must leave no trace: thrown so that the transaction rolls back.
struct NotStored: Error {
    let response: APIResponse
}
