import Hummingbird
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Runs a change in a transaction, once per idempotency key if the request has one.
struct Mutation: Sendable {
    let database: EventDatabase
    let executor: IdempotentExecutor
    /// Keys the hash of the request: a plain hash of a body with an account number could be searched for it.
    let index: BlindIndex

    /// Runs `body` for a request.
    func run(
        _ request: Request,
        _ context: AppRequestContext,
        _ body: (EventTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        guard let scope = try await self.scope(of: request, context) else {
            let user = try context.requireIdentity().userID
            return try await self.database.transaction(as: user, cause: context.cause, body)
        }
        return try await self.executor.run(scope, in: self.database, context: context, body)
    }

    /// What was answered before under the same key; nil when nothing was, or there is no key.
    func earlierAnswer(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse? {
        guard let scope = try await self.scope(of: request, context) else { return nil }
        return try await self.executor.storedAnswer(for: scope)
    }

    private func scope(of request: Request, _ context: AppRequestContext) async throws -> IdempotencyScope? {
        guard let key = try request.idempotencyKey() else { return nil }
        let path = request.uri.path
        let bytes = try await request.rawBody(context: context).bytes
        return IdempotencyScope(
            user: try context.requireIdentity().userID,
            route: "\(request.method.rawValue) \(context.endpointPath ?? path)",
            key: key,
            fingerprint: self.fingerprint(RequestFingerprint(method: request.method.rawValue, path: path, body: bytes))
        )
    }

    private func fingerprint(_ plain: RequestFingerprint) -> RequestFingerprint {
        let keyed = self.index.index("request", Hex.encode(plain.bytes))
        return RequestFingerprint(bytes: Hex.decode(keyed) ?? [])
    }
}
