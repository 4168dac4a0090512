import Cryptography
import Foundation

/// AES-256-GCM as nonce, ciphertext and tag in one piece.
enum AEAD {
    /// Bytes that sealing adds: a nonce of 12 and a tag of 16.
    static let overhead = AES.GCM.nonceByteCount + AES.GCM.tagByteCount

    static func seal(_ plain: [UInt8], key: SymmetricKey, associated: [UInt8]) throws(SealingError) -> [UInt8] {
        do {
            return try AES.GCM.seal(plain, using: key, authenticating: associated)
        } catch {
            throw SealingError(.internalFailure, "AES-GCM refused to seal")
        }
    }

    static func open(_ sealed: [UInt8], key: SymmetricKey, associated: [UInt8]) throws(SealingError) -> [UInt8] {
        guard sealed.count >= Self.overhead else { throw SealingError(.malformed, "too short for a sealed value") }
        do {
            return try AES.GCM.open(sealed, using: key, authenticating: associated)
        } catch {
            throw SealingError(.notAuthentic, "wrong key or context, or changed since it was sealed")
        }
    }
}
