import Cryptography
import Foundation
import Primitives

/// ES256 signatures by which a device approves a payment.
public enum DeviceSignature {
    /// The length of `r` and `s` together.
    public static let byteCount = 64

    /// Whether `signature` (`r` and `s`, 32 bytes each) is the device's for that approval.
    ///
    /// Takes about 50 microseconds: keep it off the event loops. Whether the timestamp is fresh, the nonce unspent and
    /// the key still registered is for the caller to check.
    public static func verify(
        _ signature: some Collection<UInt8>,
        of approval: ApprovalText,
        by key: DevicePublicKey
    ) -> Bool {
        guard approval.isUnambiguous, signature.count == Self.byteCount,
            let parsed = try? P256.Signature(rawRepresentation: signature)
        else { return false }
        return key.key.isValidSignature(parsed, for: Array(approval.text.utf8))
    }
}

/// The private half of a device's key, for the sandbox, the command line and tests; real ones never leave the device.
public struct DevicePrivateKey: Sendable {
    private let key: P256.PrivateKey

    /// Makes a new key.
    public init() { self.key = P256.PrivateKey() }

    /// Takes the 32 bytes of a key.
    ///
    /// - Throws: `SealingError` with `invalidKey`.
    public init(bytes: some Collection<UInt8>) throws(SealingError) {
        guard let key = try? P256.PrivateKey(rawRepresentation: bytes) else {
            throw SealingError(.invalidKey, "not a P-256 private key")
        }
        self.key = key
    }

    /// The secret itself.
    public var bytes: [UInt8] { self.key.rawRepresentation }

    /// The half that the server is told.
    public var publicKey: DevicePublicKey { DevicePublicKey(self.key.publicKey) }

    /// Signs an approval: `r` and `s`, 32 bytes each.
    ///
    /// - Throws: `SealingError` with `internalFailure`.
    public func sign(_ approval: ApprovalText) throws(SealingError) -> [UInt8] {
        do {
            return try self.key.signature(for: Array(approval.text.utf8)).rawRepresentation
        } catch {
            throw SealingError(.internalFailure, "ECDSA refused to sign")
        }
    }
}

extension DevicePrivateKey: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "DevicePrivateKey([redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension DevicePublicKey {
    fileprivate init(_ key: P256.PublicKey) { self.key = key }
}
