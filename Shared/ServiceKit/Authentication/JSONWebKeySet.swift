import AsyncHTTPClient
import Crypto
import Foundation
import HTTPReach
import JWTKit
import NIOCore
import NIOHTTP1
import Primitives

/// A document of public keys at a URL.
struct JSONWebKeySet: Sendable {
    /// The most keys that are looked at, and the most bytes that are read.
    static let maximumKeys = 32
    static let maximumBytes = 256 * 1024
    static let timeout = TimeAmount.seconds(3)

    struct Unavailable: Error {}

    /// Fetches the members `keys` of the document at a URL.
    static func fetch(url: String, bearer: String?, http: HTTPClient) async throws -> [StrictJSON] {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/json")
        if let bearer {
            request.headers.add(name: "Authorization", value: "Bearer \(bearer)")
        }
        let response = try await http.reach(request, within: Self.timeout)
        guard response.status == .ok else { throw Unavailable() }
        let body = try await response.body.collect(upTo: Self.maximumBytes)
        guard case .array(let keys) = try StrictJSONParser.parse(Array(buffer: body))["keys"] else {
            throw Unavailable()
        }
        return Array(keys.prefix(Self.maximumKeys))
    }
}

/// A key that can check a token's signature.
protocol VerificationKey: Sendable {
    /// Reads one member of a key set; nil if it is not a key of this kind for signatures.
    init?(jwk: StrictJSON) async
    /// Whether the token was signed by this key.
    func isValid(_ token: String, _ parts: JWTParts) async -> Bool
}

/// An RSA key for RS256.
struct RS256Key: VerificationKey {
    private let verifier: JWTKeyCollection

    init?(jwk: StrictJSON) async {
        guard jwk["kty"]?.string == "RSA", jwk.isForSignatures(algorithm: "RS256"),
            let modulus = jwk["n"]?.string, let exponent = jwk["e"]?.string,
            let key = try? Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
        else { return nil }
        let verifier = JWTKeyCollection()
        await verifier.add(rsa: key, digestAlgorithm: .sha256)
        self.verifier = verifier
    }

    func isValid(_ token: String, _ parts: JWTParts) async -> Bool {
        do {
            _ = try await self.verifier.verify(token, as: NoClaims.self)
            return true
        } catch {
            return false
        }
    }

    /// The library checks the signature alone: the claims are ours to check.
    private struct NoClaims: JWTPayload {
        func verify(using algorithm: some JWTAlgorithm) {}
    }
}

/// A P-256 key for ES256.
struct ES256Key: VerificationKey {
    private let key: P256.Signing.PublicKey

    init?(jwk: StrictJSON) async {
        guard jwk["kty"]?.string == "EC", jwk["crv"]?.string == "P-256", jwk.isForSignatures(algorithm: "ES256"),
            let first = jwk["x"]?.string.flatMap({ Base64URL.decode($0) }), first.count == 32,
            let second = jwk["y"]?.string.flatMap({ Base64URL.decode($0) }), second.count == 32,
            let key = try? P256.Signing.PublicKey(x963Representation: [4] + first + second)
        else { return nil }
        self.key = key
    }

    func isValid(_ token: String, _ parts: JWTParts) async -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: parts.signature) else { return false }
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
