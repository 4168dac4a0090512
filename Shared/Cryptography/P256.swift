import COpenSSL

/// ECDSA of FIPS 186-5 on the curve P-256, with SHA-256.
public enum P256 {
    /// The half that everybody may have.
    public struct PublicKey: Sendable {
        private let key: KeyPair

        /// An uncompressed point: 65 bytes that begin with 4.
        ///
        /// - Throws: `CryptoError`, also for a point that is not on the curve.
        public init(x963Representation point: some Collection<UInt8>) throws(CryptoError) {
            guard point.count == 65, point.first == 4 else { throw .wrongSize("point", point.count) }
            self.key = try KeyPair(point.withPiece { transfa_p256_public($0.baseAddress, $0.count) }, kind)
        }

        /// A SubjectPublicKeyInfo in PEM.
        public init(pemRepresentation text: String) throws(CryptoError) {
            self.key = try onCurve(KeyPair(publicPEM: text, kind))
        }

        /// A SubjectPublicKeyInfo.
        public init(derRepresentation bytes: some Collection<UInt8>) throws(CryptoError) {
            self.key = try onCurve(KeyPair(publicDER: bytes, kind))
        }

        fileprivate init(_ key: KeyPair) { self.key = key }

        /// The uncompressed point.
        public var x963Representation: [UInt8] { point(of: self.key) }

        /// A SubjectPublicKeyInfo in PEM.
        public var pemRepresentation: String { self.key.publicPEM }

        /// A SubjectPublicKeyInfo.
        public var derRepresentation: [UInt8] { self.key.publicDER }

        /// Whether the signature is this key's, of that message.
        public func isValidSignature(_ signature: Signature, for message: some Collection<UInt8>) -> Bool {
            self.key.isValid(signature.derRepresentation, of: message, SHA256.name)
        }
    }

    /// Both halves.
    ///
    /// The secret one is wiped when nobody holds it any more.
    public struct PrivateKey: Sendable {
        private let key: KeyPair

        /// A new key.
        public init() {
            var made: OpaquePointer?
            guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { preconditionFailure("no memory") }
            defer { EVP_PKEY_CTX_free(context) }
            guard EVP_PKEY_keygen_init(context) == 1,
                EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
                EVP_PKEY_generate(context, &made) == 1, let key = try? KeyPair(made, kind)
            else { preconditionFailure("libcrypto has no randomness") }
            self.key = key
        }

        /// The secret number: 32 bytes.
        ///
        /// - Throws: `CryptoError`, also for zero and for what is not below the order of the curve.
        public init(rawRepresentation number: some Collection<UInt8>) throws(CryptoError) {
            guard number.count == 32 else { throw .wrongSize("private key", number.count) }
            self.key = try KeyPair(number.withPiece { transfa_p256_private($0.baseAddress, $0.count) }, kind)
        }

        /// PKCS#8 or SEC 1 in PEM.
        public init(pemRepresentation text: String) throws(CryptoError) {
            self.key = try onCurve(KeyPair(privatePEM: text, kind))
        }

        /// The half that everybody may have.
        public var publicKey: PublicKey { PublicKey(self.key) }

        /// The secret number, which is the caller's to forget.
        public var rawRepresentation: [UInt8] {
            [UInt8](unsafeUninitializedCapacity: 32) { bytes, count in
                precondition(
                    transfa_p256_secret(self.key.pointer, bytes.baseAddress) == 1,
                    "a private key has a number"
                )
                count = 32
            }
        }

        /// PKCS#8 in PEM, not encrypted.
        public var pemRepresentation: String { self.key.privatePEM }

        /// A signature of the message.
        public func signature(for message: some Collection<UInt8>) throws(CryptoError) -> Signature {
            try Signature(derRepresentation: self.key.signature(of: message, SHA256.name))
        }
    }

    /// The two numbers of a signature.
    public struct Signature: Hashable, Sendable {
        /// `r` and `s`, 32 bytes each, big-endian.
        public let rawRepresentation: [UInt8]

        /// Takes `r` and `s`, 32 bytes each.
        ///
        /// Whether they are any good, the key says.
        public init(rawRepresentation bytes: some Collection<UInt8>) throws(CryptoError) {
            guard bytes.count == 64 else { throw .wrongSize("signature", bytes.count) }
            self.rawRepresentation = Array(bytes)
        }

        /// The sequence of two numbers in DER.
        public init(derRepresentation bytes: some Collection<UInt8>) throws(CryptoError) {
            let raw = bytes.withPiece { bytes -> [UInt8]? in
                var place = bytes.baseAddress
                guard let signature = d2i_ECDSA_SIG(nil, &place, bytes.count) else { return nil }
                defer { ECDSA_SIG_free(signature) }
                guard place == bytes.baseAddress.map({ $0 + bytes.count }) else { return nil }
                return numbers(of: signature)
            }
            guard let raw else {
                ERR_clear_error()
                throw .wrongSize("signature", bytes.count)
            }
            self.rawRepresentation = raw
        }

        /// The sequence of two numbers in DER.
        public var derRepresentation: [UInt8] {
            guard let signature = ECDSA_SIG_new() else { preconditionFailure("no memory") }
            defer { ECDSA_SIG_free(signature) }
            self.rawRepresentation.withUnsafeBufferPointer { bytes in
                guard let start = bytes.baseAddress else { preconditionFailure("a signature has 64 bytes") }
                // Takes both numbers over.
                let status = ECDSA_SIG_set0(signature, BN_bin2bn(start, 32, nil), BN_bin2bn(start + 32, 32, nil))
                precondition(status == 1, "no memory")
            }
            return [UInt8](unsafeUninitializedCapacity: 72) { bytes, count in
                var place = bytes.baseAddress
                count = Int(max(0, i2d_ECDSA_SIG(signature, &place)))
            }
        }
    }

    private static let kind = "P-256"

    private static func onCurve(_ key: KeyPair) throws(CryptoError) -> KeyPair {
        let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 80) { name in
            EVP_PKEY_get_utf8_string_param(key.pointer, OSSL_PKEY_PARAM_GROUP_NAME, name.baseAddress, name.count, nil)
                == 1
                ? name.baseAddress.map { String(cString: $0) } : nil
        }
        // Parameters that are spelled out may have another generator (CVE-2020-0601): only the curve's name is taken.
        var isSpelledOut: CInt = 0
        EVP_PKEY_get_int_param(key.pointer, OSSL_PKEY_PARAM_EC_DECODED_FROM_EXPLICIT_PARAMS, &isSpelledOut)
        // A document may hold the point compressed; the key would keep it so.
        guard isSpelledOut == 0, key.isOf("EC"), name == SN_X9_62_prime256v1,
            EVP_PKEY_set_utf8_string_param(key.pointer, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed") == 1
        else {
            ERR_clear_error()
            throw .notAKey(kind)
        }
        return key
    }

    private static func point(of key: KeyPair) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65) { bytes, count in
            let status = EVP_PKEY_get_octet_string_param(
                key.pointer,
                OSSL_PKEY_PARAM_PUB_KEY,
                bytes.baseAddress,
                bytes.count,
                &count
            )
            precondition(status == 1 && count == 65, "a point of P-256 has 65 bytes")
        }
    }

    private static func numbers(of signature: OpaquePointer) -> [UInt8]? {
        var written: CInt = 0
        let raw = [UInt8](unsafeUninitializedCapacity: 64) { bytes, count in
            guard let start = bytes.baseAddress else { preconditionFailure("there is room") }
            written =
                BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32)
                + BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32)
            count = written == 64 ? 64 : 0
        }
        return written == 64 ? raw : nil
    }
}
