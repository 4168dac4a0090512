import Cryptography
import Foundation
import Primitives

/// The public half of a device's P-256 key.
public struct DevicePublicKey: Sendable {
    let key: P256.PublicKey

    /// Takes an uncompressed point: 65 bytes that begin with 4.
    ///
    /// - Throws: `SealingError` with `invalidKey`, also for a point that is not on the curve.
    public init(x963: some Collection<UInt8>) throws(SealingError) {
        guard let key = try? P256.PublicKey(x963Representation: x963) else {
            throw SealingError(.invalidKey, "not a point of P-256")
        }
        self.key = key
    }

    /// Takes the coordinates of a JSON Web Key, each 32 bytes in base64url.
    ///
    /// - Throws: `SealingError` with `invalidKey`.
    public init(jwkX: String, y: String) throws(SealingError) {
        guard let first = Base64URL.decode(jwkX), first.count == 32, let second = Base64URL.decode(y),
            second.count == 32
        else { throw SealingError(.invalidKey, "a coordinate is not 32 bytes in base64url") }
        try self.init(x963: [4] + first + second)
    }

    /// Takes a public key in PEM.
    ///
    /// - Throws: `SealingError` with `invalidKey`.
    public init(pem: String) throws(SealingError) {
        guard let key = try? P256.PublicKey(pemRepresentation: pem) else {
            throw SealingError(.invalidKey, "not a P-256 public key in PEM")
        }
        self.key = key
    }

    /// The uncompressed point, as databases hold it.
    public var x963: [UInt8] { self.key.x963Representation }

    /// The coordinates of a JSON Web Key in base64url.
    public var jwk: (x: String, y: String) {
        let point = self.x963
        return (Base64URL.encode(point[1...32]), Base64URL.encode(point[33...64]))
    }

    /// The thumbprint of RFC 7638, by which people and logs may name the key.
    public var thumbprint: String {
        let (x, y) = self.jwk
        let canonical = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        return Base64URL.encode(Array(SHA256.hash(data: Array(canonical.utf8))))
    }
}

extension DevicePublicKey: Hashable {
    /// Whether both are the same point.
    public static func == (left: DevicePublicKey, right: DevicePublicKey) -> Bool { left.x963 == right.x963 }

    /// Feeds the point.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.x963) }
}
