import COpenSSL

/// A public key, or both halves of a pair, as libcrypto keeps them; it wipes what is secret.
final class KeyPair: @unchecked Sendable {
    // Sendable: never changed after it was made; libcrypto counts its references atomically.
    let pointer: OpaquePointer

    /// Takes the key over.
    init(_ pointer: OpaquePointer?, _ kind: String) throws(CryptoError) {
        guard let pointer else {
            ERR_clear_error()
            throw .notAKey(kind)
        }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_free(self.pointer) }

    // MARK: Signatures

    func isValid(_ signature: some Collection<UInt8>, of message: some Collection<UInt8>, _ hash: String) -> Bool {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("no memory") }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit_ex(context, nil, hash, nil, nil, self.pointer, nil) == 1 else {
            ERR_clear_error()
            return false
        }
        let status = signature.withPiece { signature in
            message.withPiece { message in
                EVP_DigestVerify(context, signature.baseAddress, signature.count, message.baseAddress, message.count)
            }
        }
        if status != 1 { ERR_clear_error() }
        return status == 1
    }

    func signature(of message: some Collection<UInt8>, _ hash: String) throws(CryptoError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("no memory") }
        defer { EVP_MD_CTX_free(context) }
        try check(EVP_DigestSignInit_ex(context, nil, hash, nil, nil, self.pointer, nil), "sign")
        var status: CInt = 0
        let signature = message.withPiece { message in
            [UInt8](unsafeUninitializedCapacity: Int(EVP_PKEY_get_size(self.pointer))) { bytes, count in
                count = bytes.count
                status = EVP_DigestSign(context, bytes.baseAddress, &count, message.baseAddress, message.count)
                if status != 1 { count = 0 }
            }
        }
        try check(status, "sign")
        return signature
    }

    // MARK: Text forms

    convenience init(publicPEM text: String, _ kind: String) throws(CryptoError) {
        try self.init(Self.read(text, transfa_pem_public), kind)
    }

    convenience init(privatePEM text: String, _ kind: String) throws(CryptoError) {
        try self.init(Self.read(text, transfa_pem_private), kind)
    }

    convenience init(publicDER bytes: some Collection<UInt8>, _ kind: String) throws(CryptoError) {
        let pointer = bytes.withPiece { bytes in
            var place = bytes.baseAddress
            let key = d2i_PUBKEY(nil, &place, bytes.count)
            // What follows a key makes it another document.
            guard place == bytes.baseAddress.map({ $0 + bytes.count }) else {
                EVP_PKEY_free(key)
                return OpaquePointer?.none
            }
            return key
        }
        try self.init(pointer, kind)
    }

    var publicPEM: String { self.written { PEM_write_bio_PUBKEY($0, self.pointer) } }

    var privatePEM: String { self.written { transfa_write_pem_private($0, self.pointer) } }

    var publicDER: [UInt8] {
        let count = i2d_PUBKEY(self.pointer, nil)
        precondition(count > 0, "a key has a text form")
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, initialized in
            var place = bytes.baseAddress
            initialized = Int(i2d_PUBKEY(self.pointer, &place))
        }
    }

    private static func read(_ text: String, _ parse: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            let input = BIO_new_mem_buf(bytes.baseAddress, CInt(clamping: bytes.count))
            defer { BIO_free(input) }
            return input.flatMap { parse($0) }
        }
    }

    private func written(_ write: (OpaquePointer?) -> CInt) -> String {
        let output = BIO_new(BIO_s_secmem())
        defer { BIO_free(output) }
        var bytes: UnsafeMutablePointer<CChar>?
        guard write(output) == 1, case let count = transfa_bio_bytes(output, &bytes), let bytes else {
            preconditionFailure("a key has a text form")
        }
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    // MARK: Looking

    var bitCount: Int { Int(EVP_PKEY_get_bits(self.pointer)) }

    func isOf(_ type: String) -> Bool { EVP_PKEY_is_a(self.pointer, type) == 1 }
}
