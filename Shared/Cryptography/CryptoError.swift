import COpenSSL

/// Why something was refused.
///
/// It says nothing about the bytes.
public enum CryptoError: Error, Hashable, Sendable {
    /// A key, nonce or signature of that many bytes does not exist in the algorithm.
    case wrongSize(String, Int)
    /// The bytes or the text are no key of the wanted kind.
    case notAKey(String)
    /// Changed since it was sealed, or sealed under another key or for another context.
    case notAuthentic
    /// scrypt cannot be computed with these numbers, or needs more memory than they allow.
    case parameters
    /// libcrypto failed at that operation, with its code.
    case failed(String, code: UInt)

    /// The oldest entry of this thread's queue of errors, which is emptied.
    static func last(_ operation: String) -> CryptoError {
        let code = ERR_get_error()
        ERR_clear_error()
        return .failed(operation, code: code)
    }
}

/// libcrypto answers 1 when all is well.
func check(_ status: CInt, _ operation: String) throws(CryptoError) {
    if status != 1 { throw .last(operation) }
}

/// What this thread's queue of errors holds, which must be nothing: TLS on the same thread would take it for its own.
var isErrorLeft: Bool { ERR_peek_error() != 0 }
