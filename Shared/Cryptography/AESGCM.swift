import COpenSSL

/// AES.
public enum AES {
    /// Galois/counter mode of SP 800-38D, with nonces of 12 and tags of 16 bytes.
    public enum GCM {
        /// Bytes of a nonce.
        public static let nonceByteCount = 12
        /// Bytes of a tag.
        public static let tagByteCount = 16

        /// Nonce, ciphertext and tag in one piece.
        ///
        /// A nonce must never be used twice under a key: leave it out.
        ///
        /// - Throws: `CryptoError` for a key that has not 16, 24 or 32 bytes, or a nonce that has not 12.
        public static func seal(
            _ plain: some Collection<UInt8>,
            using key: SymmetricKey,
            nonce given: [UInt8]? = nil,
            authenticating context: some Collection<UInt8> = []
        ) throws(CryptoError) -> [UInt8] {
            let nonce = given ?? randomBytes(Self.nonceByteCount)
            guard nonce.count == Self.nonceByteCount else { throw .wrongSize("nonce", nonce.count) }
            let work = try Work(key)
            var status: CInt = 1
            let count = plain.count
            try Self.checkLength(count, context.count)
            let size = Self.nonceByteCount + count + Self.tagByteCount
            let sealed = [UInt8](unsafeUninitializedCapacity: size) { bytes, initialized in
                guard let start = bytes.baseAddress else { preconditionFailure("there is a nonce") }
                start.update(from: nonce, count: nonce.count)
                let body = start + Self.nonceByteCount
                var written: CInt = 0
                status &= work.begin(EVP_EncryptInit_ex2, nonce: start)
                context.withPiece { context in
                    guard !context.isEmpty else { return }
                    status &= EVP_EncryptUpdate(work.context, nil, &written, context.baseAddress, CInt(context.count))
                }
                plain.withPiece { plain in
                    guard !plain.isEmpty else { return }
                    status &= EVP_EncryptUpdate(work.context, body, &written, plain.baseAddress, CInt(plain.count))
                }
                status &= EVP_EncryptFinal_ex(work.context, body + count, &written)
                status &= EVP_CIPHER_CTX_ctrl(
                    work.context,
                    EVP_CTRL_AEAD_GET_TAG,
                    CInt(Self.tagByteCount),
                    body + count
                )
                initialized = status == 1 ? size : 0
            }
            try check(status, "AES-GCM")
            return sealed
        }

        /// The text, when neither it nor the context has changed since it was sealed.
        ///
        /// - Throws: `CryptoError`; `notAuthentic` says nothing of which of them has changed.
        public static func open(
            _ sealed: some Collection<UInt8>,
            using key: SymmetricKey,
            authenticating context: some Collection<UInt8> = []
        ) throws(CryptoError) -> [UInt8] {
            let count = sealed.count - Self.nonceByteCount - Self.tagByteCount
            guard count >= 0 else { throw .wrongSize("sealed text", sealed.count) }
            try Self.checkLength(count, context.count)
            let work = try Work(key)
            var status: CInt = 1
            let plain = sealed.withPiece { sealed in
                [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
                    guard let start = sealed.baseAddress else { preconditionFailure("there is a nonce") }
                    let (body, tag) = (start + Self.nonceByteCount, start + Self.nonceByteCount + count)
                    var (written, rest): (CInt, UInt8) = (0, 0)
                    status &= work.begin(EVP_DecryptInit_ex2, nonce: start)
                    context.withPiece { context in
                        guard !context.isEmpty else { return }
                        status &= EVP_DecryptUpdate(
                            work.context,
                            nil,
                            &written,
                            context.baseAddress,
                            CInt(context.count)
                        )
                    }
                    if count > 0 {
                        status &= EVP_DecryptUpdate(work.context, bytes.baseAddress, &written, body, CInt(count))
                    }
                    status &= EVP_CIPHER_CTX_ctrl(
                        work.context,
                        EVP_CTRL_AEAD_SET_TAG,
                        CInt(Self.tagByteCount),
                        UnsafeMutableRawPointer(mutating: tag)
                    )
                    // Last and alone: it compares the tags.
                    if status == 1 { status = EVP_DecryptFinal_ex(work.context, &rest, &written) }
                    // What was decrypted before the tag was looked at is nobody's.
                    if status != 1 { OPENSSL_cleanse(bytes.baseAddress, count) }
                    initialized = status == 1 ? count : 0
                }
            }
            guard status == 1 else {
                ERR_clear_error()
                throw .notAuthentic
            }
            return plain
        }

        /// libcrypto counts in `int`.
        private static func checkLength(_ counts: Int...) throws(CryptoError) {
            for count in counts where count > Int(CInt.max) - 64 { throw .wrongSize("text", count) }
        }

        /// What libcrypto works with under a key.
        private struct Work: ~Copyable {
            let context: OpaquePointer
            private let key: SymmetricKey
            private let algorithm: Algorithm

            init(_ key: SymmetricKey) throws(CryptoError) {
                switch key.bitCount {
                case 128: self.algorithm = Algorithms.aes128
                case 192: self.algorithm = Algorithms.aes192
                case 256: self.algorithm = Algorithms.aes256
                default: throw .wrongSize("key", key.bitCount / 8)
                }
                guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("no memory") }
                self.context = context
                self.key = key
            }

            /// Its key schedule is wiped by libcrypto.
            deinit { EVP_CIPHER_CTX_free(self.context) }

            func begin(
                _ start: (
                    OpaquePointer?, OpaquePointer?, UnsafePointer<UInt8>?, UnsafePointer<UInt8>?,
                    UnsafePointer<OSSL_PARAM>?
                )
                    -> CInt,
                nonce: UnsafePointer<UInt8>
            ) -> CInt {
                self.key.withBytes { key, _ in start(self.context, self.algorithm.pointer, key, nonce, nil) }
            }
        }
    }
}
