import Crypto
import Foundation

/// Keys that all processes of a service know, and nobody else: derived from `INTERNAL_TOKEN`.
///
/// For what may be lost when the token changes: counts of requests, cursors of lists, and whether a request with a secret
/// in it is the same again.
struct DerivedKeys: Sendable {
    private let secret: SymmetricKey
    private let service: String

    init(_ settings: ServiceSettings) {
        self.secret = SymmetricKey(data: Data(settings.internalServer.token.utf8))
        self.service = settings.service
    }

    func key(for purpose: String) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: self.secret,
            info: Data("transfa \(self.service) \(purpose)".utf8),
            outputByteCount: 32
        )
    }
}
