import COpenSSL

/// HKDF of RFC 5869: keys from a secret that is hard to guess.
public enum HKDF<Function: HashFunction> {
    /// A key for what `info` names, of at most 255 digests.
    public static func deriveKey(
        inputKeyMaterial: SymmetricKey,
        salt: some Collection<UInt8> = [],
        info: some Collection<UInt8> = [],
        outputByteCount: Int
    ) -> SymmetricKey {
        precondition((1...255 * Function.byteCount).contains(outputByteCount), "HKDF gives no key of that length")
        guard let context = EVP_KDF_CTX_new(Algorithms.hkdf.pointer) else { preconditionFailure("no memory") }
        defer { EVP_KDF_CTX_free(context) }
        return SymmetricKey(byteCount: outputByteCount) { out in
            let status = inputKeyMaterial.withBytes { key, count in
                salt.withPiece { salt in
                    info.withPiece { info in
                        transfa_hkdf(
                            context,
                            Function.name,
                            key,
                            count,
                            salt.baseAddress,
                            salt.count,
                            info.baseAddress,
                            info.count,
                            out,
                            outputByteCount
                        )
                    }
                }
            }
            precondition(status == 1, "HKDF takes any secret")
        }
    }
}

/// scrypt of RFC 7914: keys from a secret that is easy to guess.
public enum Scrypt {
    /// Bytes that a computation may take.
    private static let memoryLimit = 1 << 30

    /// A key; takes 128 · `blockSize` · `rounds` bytes of memory while it is computed, at most a gibibyte.
    ///
    /// `rounds` is RFC 7914's N, a power of two above 1; `blockSize` its r, `parallelism` its p.
    ///
    /// - Throws: `CryptoError` for numbers that RFC 7914 excludes.
    public static func deriveKey(
        from password: some Collection<UInt8>,
        salt: some Collection<UInt8>,
        outputByteCount: Int,
        rounds: Int,
        blockSize: Int,
        parallelism: Int
    ) throws(CryptoError) -> SymmetricKey {
        guard rounds > 1, rounds & (rounds - 1) == 0, (1...1024).contains(blockSize),
            rounds <= Self.memoryLimit / 128 / blockSize, (1...1024).contains(parallelism),
            (1...1024).contains(outputByteCount)
        else { throw .parameters }
        let needed = 128 * blockSize * (rounds + parallelism + 2) + 1024 * 1024
        return try SymmetricKey(byteCount: outputByteCount) { out throws(CryptoError) in
            let status = password.withPiece { password in
                password.withMemoryRebound(to: CChar.self) { password in
                    salt.withPiece { salt in
                        EVP_PBE_scrypt(
                            password.baseAddress,
                            password.count,
                            salt.baseAddress,
                            salt.count,
                            UInt64(rounds),
                            UInt64(blockSize),
                            UInt64(parallelism),
                            UInt64(needed),
                            out,
                            outputByteCount
                        )
                    }
                }
            }
            guard status == 1 else {
                ERR_clear_error()
                throw .parameters
            }
        }
    }
}
