import COpenSSL

/// HMAC of FIPS 198-1.
public struct HMAC<Function: HashFunction>: ~Copyable {
    /// An authentication code.
    public typealias MAC = Digest<Function>

    private let context: OpaquePointer

    /// Begins with nothing, under a key of any length.
    public init(key: SymmetricKey) {
        guard let context = EVP_MAC_CTX_new(Algorithms.hmac.pointer) else { preconditionFailure("no memory") }
        let status = key.withBytes { transfa_hmac_init(context, Function.name, $0, $1) }
        precondition(status == 1, "HMAC takes any key")
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(self.context) }

    /// Goes on with more bytes.
    public mutating func update(data: some Collection<UInt8>) {
        let status = data.withPiece { EVP_MAC_update(self.context, $0.baseAddress, $0.count) }
        precondition(status == 1, "HMAC takes any bytes")
    }

    /// The code of all bytes.
    public consuming func finalize() -> MAC {
        let bytes = [UInt8](unsafeUninitializedCapacity: Function.byteCount) { bytes, count in
            let status = EVP_MAC_final(self.context, bytes.baseAddress, &count, bytes.count)
            precondition(status == 1 && count == Function.byteCount, "HMAC cannot fail")
        }
        return Digest(bytes: bytes)
    }

    /// The code of one piece.
    public static func authenticationCode(for data: some Collection<UInt8>, using key: SymmetricKey) -> MAC {
        var code = HMAC(key: key)
        code.update(data: data)
        return code.finalize()
    }
}
