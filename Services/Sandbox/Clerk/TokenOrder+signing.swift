import Cryptography
import Foundation
import Primitives

extension TokenOrder {
    /// The token as text.
    func token(at now: Int64, keys: ClerkKeys) throws -> String {
        let key = self.isForeign ? try keys.foreign() : try keys.current()
        // A foreign key claims the published key's id: only the signature is wrong.
        let keyID = try self.keyID ?? keys.current().id
        let header: JSON = ["alg": .string(self.algorithm.rawValue), "typ": "JWT", "kid": .string(keyID)]
        let signed = Base64URL.encode(header.bytes) + "." + Base64URL.encode(self.payload(at: now).bytes)
        var signature = try self.signature(Array(signed.utf8), key.key)
        if self.isBroken, let last = signature.popLast() { signature.append(last ^ 1) }
        return signed + "." + Base64URL.encode(signature)
    }

    private func signature(_ data: [UInt8], _ key: RSA.PrivateKey) throws -> [UInt8] {
        switch self.algorithm {
        case .none: return []
        case .rs256:
            return try key.signature(for: data)
        case .rs512:
            return try key.signature(for: data, SHA512.self)
        case .hs256:
            let secret = SymmetricKey(data: key.publicKey.pemRepresentation.utf8)
            return Array(HMAC<SHA256>.authenticationCode(for: data, using: secret))
        }
    }
}
