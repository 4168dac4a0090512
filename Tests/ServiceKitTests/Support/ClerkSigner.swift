import Cryptography
import Foundation
import Primitives

@testable import ServiceKit

/// A key pair as the identity provider has it.
struct ClerkSigner: Sendable {
    let privateKey: RSA.PrivateKey
    let keyID: String

    init(keyID: String) throws {
        self.keyID = keyID
        self.privateKey = try RSA.PrivateKey()
    }

    var jwk: String {
        let half = self.privateKey.publicKey
        return """
            {"use":"sig","kty":"RSA","alg":"RS256","kid":"\(self.keyID)",\
            "n":"\(Base64URL.encode(half.modulus))","e":"\(Base64URL.encode(half.exponent))"}
            """
    }

    func sign(_ claims: ClerkClaims, as keyID: String? = nil) throws -> String {
        let header = #"{"alg":"RS256","typ":"JWT","kid":"\#(keyID ?? self.keyID)"}"#
        let signed = try "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(JSONEncoder().encode(claims)))"
        return try "\(signed).\(Base64URL.encode(self.privateKey.signature(for: signed.utf8)))"
    }
}
