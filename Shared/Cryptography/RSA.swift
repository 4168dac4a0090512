import COpenSSL

/// RSASSA-PKCS1-v1_5 of RFC 8017: RS256 and its kin.
public enum RSA {
    /// Shorter keys are refused.
    public static let leastBitCount = 2048

    /// The half that everybody may have.
    public struct PublicKey: Sendable {
        private let key: KeyPair

        /// The numbers of a JSON Web Key, big-endian.
        ///
        /// - Throws: `CryptoError`, also for a short key and for an exponent that is even or 1.
        public init(modulus: some Collection<UInt8>, exponent: some Collection<UInt8>) throws(CryptoError) {
            let (n, e) = (Array(modulus.drop { $0 == 0 }), Array(exponent.drop { $0 == 0 }))
            guard (leastBitCount / 8...2048).contains(n.count), (1...8).contains(e.count), e.last.map({ $0 & 1 }) == 1,
                e != [1]
            else { throw .wrongSize("RSA key", n.count) }
            self.key = try longEnough(KeyPair(transfa_rsa_public(n, n.count, e, e.count), kind))
        }

        fileprivate init(_ key: KeyPair) { self.key = key }

        /// The numbers of a JSON Web Key, big-endian.
        public var modulus: [UInt8] { number(OSSL_PKEY_PARAM_RSA_N, of: self.key) }
        /// The numbers of a JSON Web Key, big-endian.
        public var exponent: [UInt8] { number(OSSL_PKEY_PARAM_RSA_E, of: self.key) }
        /// A SubjectPublicKeyInfo in PEM.
        public var pemRepresentation: String { self.key.publicPEM }
        /// A SubjectPublicKeyInfo.
        public var derRepresentation: [UInt8] { self.key.publicDER }

        /// Whether the signature is this key's, of that message.
        public func isValidSignature<Function: HashFunction>(
            _ signature: some Collection<UInt8>,
            for message: some Collection<UInt8>,
            _ function: Function.Type = SHA256.self
        ) -> Bool {
            self.key.isValid(signature, of: message, Function.name)
        }
    }

    /// Both halves.
    ///
    /// The secret one is wiped when nobody holds it any more.
    public struct PrivateKey: Sendable {
        private let key: KeyPair

        /// A new key; takes up to a second.
        public init(bitCount: Int = leastBitCount) throws(CryptoError) {
            guard (leastBitCount...16384).contains(bitCount) else { throw .wrongSize("RSA key", bitCount / 8) }
            var made: OpaquePointer?
            guard let context = EVP_PKEY_CTX_new_from_name(nil, "RSA", nil) else { preconditionFailure("no memory") }
            defer { EVP_PKEY_CTX_free(context) }
            try check(EVP_PKEY_keygen_init(context), "make a key")
            try check(EVP_PKEY_CTX_set_rsa_keygen_bits(context, CInt(bitCount)), "make a key")
            try check(EVP_PKEY_generate(context, &made), "make a key")
            self.key = try KeyPair(made, kind)
        }

        /// PKCS#8 or PKCS#1 in PEM.
        public init(pemRepresentation text: String) throws(CryptoError) {
            let key = try KeyPair(privatePEM: text, kind)
            guard key.isOf("RSA") else { throw .notAKey(kind) }
            self.key = try longEnough(key)
        }

        /// The half that everybody may have.
        public var publicKey: PublicKey { PublicKey(self.key) }
        /// PKCS#8 in PEM, not encrypted.
        public var pemRepresentation: String { self.key.privatePEM }

        /// A signature of the message.
        public func signature<Function: HashFunction>(
            for message: some Collection<UInt8>,
            _ function: Function.Type = SHA256.self
        ) throws(CryptoError) -> [UInt8] {
            try self.key.signature(of: message, Function.name)
        }
    }

    private static let kind = "RSA"

    private static func longEnough(_ key: KeyPair) throws(CryptoError) -> KeyPair {
        guard key.bitCount >= leastBitCount else { throw .wrongSize("RSA key", key.bitCount / 8) }
        return key
    }

    private static func number(_ name: String, of key: KeyPair) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 2048) { bytes, count in
            count = Int(transfa_rsa_number(key.pointer, name, bytes.baseAddress, CInt(bytes.count)))
        }
    }
}
