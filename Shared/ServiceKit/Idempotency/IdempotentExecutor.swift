import HTTPTypes
public import Messaging
import Postgres
import Primitives

/// Lets a request take effect once however often it is sent.
///
/// The truth is a row, written in the transaction of the effect: whatever crashes, either both are there or none. Redis
/// only saves work: it holds a lease while the request runs and a copy of the answer, which only the lease's holder
/// writes. Both name the history of the database, so that a restore makes them void.
///
/// - Same key and request: the stored answer, with `Idempotency-Replayed: true`.
/// - Same key, another request: 422 `idempotency_key_reused`.
/// - Still running: the second waits, at first for the copy, then for the first's transaction, and replays; 409
///   `idempotency_key_in_use` when that takes longer than a statement may.
/// - Not stored, so that a repetition runs again: 400, 401, 403, 409, 429, 5xx, and refusals that are not kept.
public struct IdempotentExecutor: Sendable {
    private let postgres: PostgresClient
    private let shared: Shared?
    private let metrics: IdempotencyMetrics

    /// What replicas share.
    struct Shared: Sendable {
        let lease: IdempotencyLease
        let epoch: DatabaseEpoch
    }

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - postgres: The handler role's client.
    ///   - shared: Without it every decision takes a transaction, and is the same.
    ///   - metrics: Counts.
    init(postgres: PostgresClient, shared: Shared?, metrics: IdempotencyMetrics) {
        self.postgres = postgres
        self.shared = shared
        self.metrics = metrics
    }

    /// Runs a change once for its key, in a transaction that may publish events and enqueue jobs.
    ///
    /// Whatever is slow, or speaks to others, is prepared by the one who holds the lease, and not at all for a request that
    /// was answered before. An error of it is not kept: the next one prepares again. Where the same request was carried
    /// out meanwhile, which may be why this one could not be prepared, its answer counts.
    public func run<Prepared>(
        _ scope: IdempotencyScope,
        in database: EventDatabase,
        context: AppRequestContext,
        _ change: Change<Prepared>
    ) async throws -> APIResponse {
        try await self.run(scope, finishing: change.finish) {
            if change.isPrepared, let known = try await IdempotencyRow.read(scope, from: self.postgres) {
                return .known(known)
            }
            let prepared: Prepared
            do {
                prepared = try await Self.unlessWaiting { try await change.prepare(scope) }
            } catch {
                guard let known = try? await IdempotencyRow.read(scope, from: self.postgres) else { throw error }
                return .known(known)
            }
            return try await self.finish(scope, requestID: context.requestIDText) { work in
                try await database.transaction(as: scope.user, cause: context.cause) { transaction in
                    try await work.perform(in: transaction) { try await change.body(transaction, prepared) }
                }
            }
        }
    }

    /// Runs work that keeps its answer in a row of its own, in the commit of its effect.
    ///
    /// What is answered in the end is what `finishing` makes of the kept answer, each time: kept and copied is no more than the
    /// row has.
    public func run(
        _ scope: IdempotencyScope,
        finishing finish: ((APIResponse) async throws -> APIResponse)? = nil,
        _ work: () async throws -> Finish
    ) async throws -> APIResponse {
        let response: APIResponse
        switch try await self.begin(scope) {
        case .copy(let answer, let outcome):
            self.metrics.count(.requests, outcome)
            response = try answer.replay(for: scope)
        case .ours(let hold): response = try await self.work(work, scope, hold)
        }
        return try await finish?(response) ?? response
    }

    private func work(
        _ work: () async throws -> Finish,
        _ scope: IdempotencyScope,
        _ hold: IdempotencyLease.Hold?
    ) async throws -> APIResponse {
        do {
            let ended = try await work()
            self.metrics.count(.requests, ended.isRepeated ? .repeatPostgres : .first)
            await self.settle(hold, ended.copy(for: scope))
            return try ended.response(to: scope)
        } catch {
            await self.settle(hold, nil)
            throw error
        }
    }

    /// Whoever holds no lease, because Redis was away or somebody else has it, leaves nothing there.
    private func settle(_ hold: IdempotencyLease.Hold?, _ copy: StoredAnswer?) async {
        guard let hold else { return }
        if let copy {
            await self.shared?.lease.keep(copy, hold)
        } else {
            await self.shared?.lease.release(hold)
        }
    }

    /// How a request begins.
    private enum Beginning {
        case copy(StoredAnswer, IdempotencyMetrics.Outcome)
        /// To be run, with the lease if Redis gave it.
        case ours(IdempotencyLease.Hold?)
    }

    private func begin(_ scope: IdempotencyScope) async throws -> Beginning {
        guard let shared = self.shared else { return .ours(nil) }
        var machine = IdempotencyMachine()
        while true {
            // Each time: while somebody waits the database may be restored, and what Redis knew is void.
            guard let epoch = await shared.epoch.current() else { return self.unknown() }
            let finding = await shared.lease.take(IdempotencyLease.Names(scope, in: epoch))
            switch machine.next(finding) {
            case .replay(let answer, let outcome): return .copy(answer, outcome)
            case .run(let hold): return finding == .unknown ? self.unknown() : .ours(hold)
            case .wait(let pause): try await Task.sleep(for: pause)
            }
        }
    }

    private func unknown() -> Beginning {
        self.metrics.count(.requests, .redisUnknown)
        return .ours(nil)
    }

    static let inUse = APIError(
        .conflict,
        code: "idempotency_key_in_use",
        detail: "A request with this key is still running.",
        source: .header("Idempotency-Key"),
        headers: [.retryAfter: "1"]
    )

    /// Turns the end of a wait for somebody's lock into 409.
    private static func unlessWaiting<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let error as PostgresError where Self.isWaitTooLong(error) {
            throw Self.inUse
        }
    }

    /// Runs one attempt, and says how it has ended.
    func finish(
        _ scope: IdempotencyScope,
        requestID: String?,
        _ attempt: (IdempotentWork) async throws -> Finish
    ) async throws -> Finish {
        do {
            return try await attempt(IdempotentWork(scope: scope))
        } catch let error as NotStored {
            return .first(error.response, isKept: false)
        } catch let error as PostgresError where Self.isWaitTooLong(error) {
            throw Self.inUse
        } catch let error as any APIErrorConvertible
            where StoredAnswer.isFinal(error.apiError.status) && error.apiError.isKept
        {
            return try await self.store(error.apiError, for: scope, requestID: requestID)
        }
    }

    /// A final refusal was thrown and its transaction rolled back: the refusal itself is stored on its own.
    private func store(
        _ error: APIError,
        for scope: IdempotencyScope,
        requestID: String?
    ) async throws -> Finish {
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

/// A change in the database, in its parts.
public struct Change<Prepared> {
    let prepare: (IdempotencyScope?) async throws -> Prepared
    let body: (EventTransaction, Prepared) async throws -> APIResponse
    let finish: ((APIResponse) async throws -> APIResponse)?
    /// Whether something comes before the transaction.
    let isPrepared: Bool

    /// Puts it together.
    ///
    /// - Parameters:
    ///   - prepare: Runs before the transaction, and gets the key's scope if there is one.
    ///   - body: Runs in the transaction; its answer is kept under the key.
    ///   - finish: Makes the answer that is sent out of the one that is kept, after the commit.
    public init(
        preparing prepare: @escaping (IdempotencyScope?) async throws -> Prepared,
        then body: @escaping (EventTransaction, Prepared) async throws -> APIResponse,
        finishing finish: ((APIResponse) async throws -> APIResponse)? = nil
    ) {
        self.prepare = prepare
        self.body = body
        self.finish = finish
        self.isPrepared = true
    }
}

extension Change where Prepared == Void {
    /// A change that nothing comes before.
    public init(
        _ body: @escaping (EventTransaction) async throws -> APIResponse,
        finishing finish: ((APIResponse) async throws -> APIResponse)? = nil
    ) {
        self.prepare = { _ in }
        self.body = { transaction, _ in try await body(transaction) }
        self.finish = finish
        self.isPrepared = false
    }
}

/// How work under a key has ended.
public struct Finish: Sendable {
    private enum Kind {
        case answer(APIResponse, isKept: Bool)
        case row(StoredAnswer)
    }

    private let kind: Kind
    let isRepeated: Bool

    /// An answer given for the first time.
    public static func first(_ response: APIResponse, isKept: Bool = true) -> Finish {
        Finish(kind: .answer(response, isKept: isKept), isRepeated: false)
    }

    /// An answer that was given before, to the same request, and is marked so.
    public static func repeated(_ response: APIResponse, isKept: Bool = true) -> Finish {
        Finish(kind: .answer(response, isKept: isKept), isRepeated: true)
    }

    /// A row that was found, perhaps of another request.
    static func known(_ answer: StoredAnswer) -> Finish { Finish(kind: .row(answer), isRepeated: true) }

    /// What Redis may keep; nil for what is kept nowhere.
    func copy(for scope: IdempotencyScope) -> StoredAnswer? {
        switch self.kind {
        case .row(let answer): answer
        case .answer(let response, let isKept): isKept ? StoredAnswer(response, for: scope) : nil
        }
    }

    /// The answer to a request.
    ///
    /// - Throws: 422 `idempotency_key_reused` when the row is of another one.
    func response(to scope: IdempotencyScope) throws(APIError) -> APIResponse {
        switch self.kind {
        case .answer(let response, _): self.isRepeated ? response.markedAsRepeated : response
        case .row(let answer): try answer.replay(for: scope)
        }
    }
}

extension APIResponse {
    fileprivate var markedAsRepeated: APIResponse {
        var marked = self
        marked.headers[.idempotencyReplayed] = "true"
        return marked
    }
}

/// One attempt inside a transaction.
struct IdempotentWork: Sendable {
    let scope: IdempotencyScope

    func perform(
        in transaction: some StatementTransaction,
        _ body: () async throws -> APIResponse
    ) async throws -> Finish {
        if let known = try await IdempotencyRow.lockAndRead(self.scope, in: transaction) { return .known(known) }
        let response = try await body()
        guard StoredAnswer.isFinal(response.status) else { throw NotStored(response: response) }
        try await IdempotencyRow.write(StoredAnswer(response, for: self.scope), for: self.scope, in: transaction)
        return .first(response)
    }
}

/// An answer that must leave no trace: thrown so that the transaction rolls back.
struct NotStored: Error {
    let response: APIResponse
}
