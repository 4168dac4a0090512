import Foundation
import HTTPTypes
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
    let eraseUser: EraseByOperators
    let releaseIdentity: ReleaseIdentity

    /// Adds what only who seals and opens may ask.
    func addKeys(to group: RouterGroup<AppRequestContext>) {
        group.get("/keys/:user_id") { try await self.key($0, $1) }
    }

    /// Adds the other routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/master-keys") { try await self.masterKeys($0, $1) }
        group.get("/jwks") { try await self.keySet($0, $1) }
        group.post("/users/:user_id/erase") { try await self.erase($0, $1) }
        group.post("/users/:user_id/identity/release") { try await self.release($0, $1) }
    }

    private func key(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let key = try await self.vault.open(user, as: nil, on: self.database)
        return try APIResponse(json: DataKeyBody(key: Data(key.bytes).base64EncodedString()))
    }

    private func masterKeys(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let counts = try await self.vault.keys.counts(on: self.database)
        return try APIResponse(
            json: MasterKeyUse(
                data: self.vault.ring.ids.map { .init(id: $0, dataKeys: counts[$0] ?? 0) },
                unknown: counts.filter { !self.vault.ring.ids.contains($0.key) }.values.reduce(0, +)
            )
        )
    }

    private func keySet(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        try APIResponse(json: KeySet(keys: self.signer.publicKeys.map(KeySet.Member.init)))
    }

    private func erase(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let order = try await OperatorOrder(request, context)
        let outcome = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.eraseUser(user, by: order, in: transaction)
        }
        switch outcome {
        case .erased: return .noContent
        case .proposed: return try APIResponse(.accepted, json: ProposedErasure(state: "proposed"))
        }
    }

    private func release(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let order = try await OperatorOrder(request, context)
        try await self.database.transaction(cause: context.cause) { transaction in
            try await self.releaseIdentity(user, by: order, in: transaction)
        }
        return .noContent
    }
}

/// POST /internal/users/{user_id}/erase, when one operator is not enough.
struct ProposedErasure: Encodable {
    let state: String
}

/// GET /internal/keys/{user_id}.
struct DataKeyBody: Encodable {
    let key: String
}

/// GET /internal/master-keys: how many data keys each of the configured master keys has wrapped.
struct MasterKeyUse: Encodable {
    struct Entry: Encodable {
        let id: String
        let dataKeys: Int64

        private enum CodingKeys: String, CodingKey {
            case id
            case dataKeys = "data_keys"
        }
    }

    /// The one that wraps comes first.
    let data: [Entry]
    /// Wrapped by master keys that are not configured: nobody can open these.
    let unknown: Int64
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
