import COpenSSL

/// Bytes that nobody can foresee.
public func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
        fillWithRandom(UnsafeMutableRawBufferPointer(bytes))
        initialized = count
    }
}

func fillWithRandom(_ bytes: UnsafeMutableRawBufferPointer) {
    precondition(RAND_bytes(bytes.baseAddress, CInt(bytes.count)) == 1, "libcrypto has no randomness")
}

/// Whether both are the same; it takes as long wherever they differ.
public func isEqualInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}

extension Collection<UInt8> {
    /// Calls the body with the elements in one piece.
    func withPiece<Result, Failure>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var result: Swift.Result<Result, Failure>?
        let isOnePiece: Void? = self.withContiguousStorageIfAvailable { bytes in
            do throws(Failure) { result = .success(try body(bytes)) } catch { result = .failure(error) }
        }
        if isOnePiece != nil, let result { return try result.get() }
        return try Array(self).withUnsafeBufferPointer(body)
    }
}
