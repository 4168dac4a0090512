import Crypto
import CryptoExtras
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
        var signature = try self.signature(Data(signed.utf8), key.key)
        if self.isBroken, let last = signature.popLast() { signature.append(last ^ 1) }
        return signed + "." + Base64URL.encode(signature)
    }

    private func signature(_ data: Data, _ key: _RSA.Signing.PrivateKey) throws -> [UInt8] {
        switch self.algorithm {
        case .none: return []
        case .rs256:
            return Array(try key.signature(for: SHA256.hash(data: data), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .rs512:
            return Array(try key.signature(for: SHA512.hash(data: data), padding: .insecurePKCS1v1_5).rawRepresentation)
        case .hs256:
            let secret = SymmetricKey(data: Data(key.publicKey.pemRepresentation.utf8))
            return Array(HMAC<SHA256>.authenticationCode(for: data, using: secret))
        }
    }
}
