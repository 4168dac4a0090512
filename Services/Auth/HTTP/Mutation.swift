import Hummingbird
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Runs a change in a transaction, once per idempotency key if the request has one.
struct Mutation: Sendable {
    let database: EventDatabase
    let executor: IdempotentExecutor
    /// Keys the hash of the request: a plain hash of a body with a BVN in it could be searched for the BVN.
    let index: BlindIndex

    /// Runs `body` for a request.
    ///
    /// `identifying` is what makes two requests the same, when that is not the whole body.
    func run(
        _ request: Request,
        _ context: AppRequestContext,
        identifying: [UInt8]? = nil,
        _ body: (EventTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let key = try request.idempotencyKey() else {
            return try await self.database.transaction(as: user, cause: context.cause, body)
        }
        let path = request.uri.path
        let bytes: [UInt8]
        if let identifying {
            bytes = identifying
        } else {
            bytes = try await request.rawBody(context: context).bytes
        }
        let scope = IdempotencyScope(
            user: user,
            route: "\(request.method.rawValue) \(context.endpointPath ?? path)",
            key: key,
            fingerprint: self.fingerprint(RequestFingerprint(method: request.method.rawValue, path: path, body: bytes))
        )
        return try await self.executor.run(scope, in: self.database, context: context, body)
    }

    private func fingerprint(_ plain: RequestFingerprint) -> RequestFingerprint {
        let keyed = self.index.index("request", Hex.encode(plain.bytes))
        return RequestFingerprint(bytes: Hex.decode(keyed) ?? [])
    }
}
