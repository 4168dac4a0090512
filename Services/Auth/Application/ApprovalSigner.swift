import Cryptography
import Foundation
import Primitives
import Sealing

/// Signs approval tokens (ES256): the first key signs, the public halves of all are handed out, so that keys can be
/// rotated without a gap.
struct ApprovalSigner: Sendable {
    private struct Header: Encodable {
        let alg = "ES256"
        let kid: String
        let typ = "JWT"
    }

    private let first: P256.PrivateKey
    private let firstID: String
    /// The public halves, the signing one first.
    let publicKeys: [DevicePublicKey]

    /// Takes the keys, the one that signs first.
    init?(_ keys: [P256.PrivateKey]) {
        let publicKeys = keys.compactMap { try? DevicePublicKey(x963: $0.publicKey.x963Representation) }
        guard let first = keys.first, publicKeys.count == keys.count else { return nil }
        self.first = first
        self.firstID = publicKeys[0].thumbprint
        self.publicKeys = publicKeys
    }

    /// The token for some claims.
    ///
    /// Takes about 50 microseconds, so it leaves the caller's executor.
    @concurrent
    func token(_ claims: ApprovalClaims) async throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let header = Base64URL.encode(try encoder.encode(Header(kid: self.firstID)))
        let body = Base64URL.encode(try encoder.encode(claims))
        let signed = "\(header).\(body)"
        let signature = try self.first.signature(for: Array(signed.utf8))
        return "\(signed).\(Base64URL.encode(signature.rawRepresentation))"
    }
}
