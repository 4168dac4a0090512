import Cryptography
import Foundation
import OutgoingHTTP
import Primitives

/// A document of public keys at a URL.
struct JSONWebKeySet: Sendable {
    /// The most keys that are looked at, and the most bytes that are read.
    static let maximumKeys = 32
    static let maximumBytes = 256 * 1024
    static let timeout = Duration.seconds(3)

    struct Unavailable: Error {}

    /// Fetches the members `keys` of the document at a URL.
    static func fetch(url: String, bearer: String?, http: HTTPClient) async throws -> [StrictJSON] {
        var call = HTTPCall(.get, url, headers: [("Accept", "application/json")], longestAnswer: Self.maximumBytes)
        if let bearer { call.headers.append(("Authorization", "Bearer \(bearer)")) }
        let answer = try await http.send(call, within: Self.timeout)
        guard answer.status == 200 else { throw Unavailable() }
        guard case .array(let keys) = try StrictJSONParser.parse(answer.body)["keys"] else {
            throw Unavailable()
        }
        return Array(keys.prefix(Self.maximumKeys))
    }
}

/// A key that can check a token's signature.
protocol VerificationKey: Sendable {
    /// Reads one member of a key set; nil if it is not a key of this kind for signatures.
    init?(jwk: StrictJSON)
    /// Whether a token of these parts was signed by this key.
    func isValid(_ parts: JWTParts) -> Bool
}

/// An RSA key for RS256.
struct RS256Key: VerificationKey {
    private let key: RSA.PublicKey

    init?(jwk: StrictJSON) {
        guard jwk["kty"]?.string == "RSA", jwk.isForSignatures(algorithm: "RS256"),
            let modulus = jwk["n"]?.string.flatMap({ Base64URL.decode($0) }),
            let exponent = jwk["e"]?.string.flatMap({ Base64URL.decode($0) }),
            let key = try? RSA.PublicKey(modulus: modulus, exponent: exponent)
        else { return nil }
        self.key = key
    }

    func isValid(_ parts: JWTParts) -> Bool { self.key.isValidSignature(parts.signature, for: parts.signed) }
}

/// A P-256 key for ES256.
struct ES256Key: VerificationKey {
    private let key: P256.PublicKey

    init?(jwk: StrictJSON) {
        guard jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", jwk.isForSignatures(algorithm: "ES256"),
            let first = jwk["x"]?.string.flatMap({ Base64URL.decode($0) }), first.count == 32,
            let second = jwk["y"]?.string.flatMap({ Base64URL.decode($0) }), second.count == 32,
            let key = try? P256.PublicKey(x963Representation: [4] + first + second)
        else { return nil }
        self.key = key
    }

    func isValid(_ parts: JWTParts) -> Bool {
        guard let signature = try? P256.Signature(rawRepresentation: parts.signature) else { return false }
        return self.key.isValidSignature(signature, for: parts.signed)
    }
}

extension StrictJSON {
    fileprivate func isForSignatures(algorithm: String) -> Bool {
        let use = self["use"]?.string ?? "sig"
        let named = self["alg"]?.string ?? algorithm
        return use == "sig" && named == algorithm
    }
}
