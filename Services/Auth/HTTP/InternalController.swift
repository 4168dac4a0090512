import Foundation
import Hummingbird
import Messaging
import Primitives
import Sealing
import ServiceKit

/// What other services and operators may ask on the internal port.
struct InternalController: Sendable {
    let database: EventDatabase
    let vault: KeyVault
    let signer: ApprovalSigner
    let eraseUser: EraseUser

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/keys/:user_id") { try await self.key($0, $1) }
        group.get("/jwks") { try await self.keySet($0, $1) }
        group.post("/users/:user_id/erase") { try await self.erase($0, $1) }
    }

    private func key(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let key = try await self.vault.open(user, as: nil, on: self.database)
        return try APIResponse(json: DataKeyBody(key: Data(key.bytes).base64EncodedString()))
    }

    private func keySet(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        try APIResponse(json: KeySet(keys: self.signer.publicKeys.map(KeySet.Member.init)))
    }

    private func erase(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        try await self.database.transaction(cause: context.cause) { try await self.eraseUser(user, in: $0) }
        return .noContent
    }
}

/// GET /internal/keys/{user_id}.
struct DataKeyBody: Encodable {
    let key: String
}

/// GET /internal/jwks: the public keys of approval tokens (RFC 7517).
struct KeySet: Encodable {
    struct Member: Encodable {
        let kty = "EC"
        let crv = "P-256"
        let alg = "ES256"
        let use = "sig"
        let kid: String
        let x: String
        let y: String

        init(_ key: DevicePublicKey) {
            self.kid = key.thumbprint
            self.x = key.jwk.x
            self.y = key.jwk.y
        }
    }

    let keys: [Member]
}
