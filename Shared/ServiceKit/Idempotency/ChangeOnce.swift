public import Hummingbird
public import Messaging
public import Sealing

/// Runs a change of the user's for which an idempotency key is optional: once per key if the request has one.
public struct ChangeOnce: Sendable {
    /// The handler role's.
    public let database: EventDatabase
    private let executor: IdempotentExecutor
    private let indexes: [BlindIndex]

    /// Puts it together; the database is the handler role's.
    ///
    /// With `indexes` what is kept of a request is a hash keyed by the first: a plain one of a body with a BVN or an
    /// account number in it could be searched for the number. The others know what they have hashed, while a key is being
    /// replaced.
    public init(executor: IdempotentExecutor, database: EventDatabase, hashingWith indexes: [BlindIndex] = []) {
        self.executor = executor
        self.database = database
        self.indexes = indexes
    }

    /// Runs `body` in a transaction.
    ///
    /// `identifying` is what makes two requests the same, when that is not the whole body.
    public func callAsFunction(
        _ request: Request,
        _ context: AppRequestContext,
        identifying: [UInt8]? = nil,
        _ body: @escaping (EventTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        try await self(request, context, identifying: identifying, Change(body))
    }

    /// Runs a change that has more parts than its transaction.
    public func callAsFunction<Prepared>(
        _ request: Request,
        _ context: AppRequestContext,
        identifying: [UInt8]? = nil,
        _ change: Change<Prepared>
    ) async throws -> APIResponse {
        if let scope = try await self.scope(of: request, context, identifying) {
            return try await self.executor.run(scope, in: self.database, context: context, change)
        }
        let user = try context.requireIdentity().userID
        let prepared = try await change.prepare(nil)
        let answer = try await self.database.transaction(as: user, cause: context.cause) { transaction in
            try await change.body(transaction, prepared)
        }
        return try await change.finish?(answer) ?? answer
    }

    /// Nil without a key.
    private func scope(
        of request: Request,
        _ context: AppRequestContext,
        _ identifying: [UInt8]?
    ) async throws -> IdempotencyScope? {
        guard try request.idempotencyKey() != nil else { return nil }
        let scope = try await request.idempotencyScope(context: context, identifying: identifying)
        return scope.hashed(with: self.indexes)
    }
}
