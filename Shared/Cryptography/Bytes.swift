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

/// Comparisons whose duration says nothing about where two secrets differ.
public enum ConstantTime {
    /// Whether both are the same bytes.
    ///
    /// Only the lengths may be told from the time it takes.
    public static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return left.withPiece { left in
            right.withPiece { right in CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0 }
        }
    }

    /// Whether both are the same text in UTF-8.
    public static func equal(_ left: String, _ right: String) -> Bool { Self.equal(left.utf8, right.utf8) }
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
