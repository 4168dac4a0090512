import Cryptography
import Foundation

/// Keys that all processes of a service know, and nobody else: derived from `INTERNAL_TOKEN`.
///
/// While a token is being replaced there is a key of each, and what was made with either is known again: cursors of lists,
/// whether a request with a secret in it is the same again. What may be lost with a
/// token, such as counts of requests, is made with the first one alone.
struct DerivedKeys: Sendable {
    private let secrets: [SymmetricKey]
    private let service: String

    init(_ settings: ServiceSettings) {
        self.secrets = settings.internalServer.tokens.all.map { SymmetricKey(data: Data($0.utf8)) }
        self.service = settings.service
    }

    /// The keys for a purpose, the one of the token in use first.
    func keys(for purpose: String) -> [SymmetricKey] {
        self.secrets.map {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: $0,
                info: Data("transfa \(self.service) \(purpose)".utf8),
                outputByteCount: 32
            )
        }
    }

    /// The key of the token in use.
    func key(for purpose: String) -> SymmetricKey { self.keys(for: purpose)[0] }
}
