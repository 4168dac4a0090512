import Hummingbird
import Messaging
import ServiceKit

/// Runs a change that moves no money: once per idempotency key if the request has one.
struct ChangeOnce: Sendable {
    let executor: IdempotentExecutor
    let database: EventDatabase

    /// What was answered before under the same key; nil when nothing was, or there is no key.
    func earlierAnswer(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse? {
        guard try request.idempotencyKey() != nil else { return nil }
        return try await self.executor.storedAnswer(for: try await request.idempotencyScope(context: context))
    }

    /// Runs `body` in a transaction.
    func callAsFunction(
        _ request: Request,
        _ context: AppRequestContext,
        _ body: (EventTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        guard try request.idempotencyKey() != nil else {
            let user = try context.requireIdentity().userID
            return try await self.database.transaction(as: user, cause: context.cause, body)
        }
        let scope = try await request.idempotencyScope(context: context)
        return try await self.executor.run(scope, in: self.database, context: context, body)
    }
}
