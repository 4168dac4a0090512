import COpenSSL

/// An algorithm of libcrypto, which nobody changes.
struct Algorithm: @unchecked Sendable {
    let pointer: OpaquePointer

    init(
        _ name: String,
        _ fetch: (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?
    ) {
        guard let pointer = fetch(nil, name, nil) else { preconditionFailure("libcrypto has no \(name)") }
        self.pointer = pointer
    }
}

/// Looked up once: a look-up by name takes longer than to hash a short text.
enum Algorithms {
    static let aes128 = Algorithm("AES-128-GCM", EVP_CIPHER_fetch)
    static let aes192 = Algorithm("AES-192-GCM", EVP_CIPHER_fetch)
    static let aes256 = Algorithm("AES-256-GCM", EVP_CIPHER_fetch)
    static let hmac = Algorithm("HMAC", EVP_MAC_fetch)
    static let hkdf = Algorithm("HKDF", EVP_KDF_fetch)
}
