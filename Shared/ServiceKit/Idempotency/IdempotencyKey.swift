import HTTPTypes
public import Hummingbird

/// The key under which a client may repeat a request: 1 to 255 visible ASCII characters.
public struct IdempotencyKey: Hashable, Sendable {
    /// The key itself.
    public let text: String

    static let maximumLength = 255

    /// Takes a key as it stands, or as the quoted string of the IETF draft; nil if it is neither.
    public init?(_ header: String) {
        let bytes = Array(header.utf8)
        let quote = UInt8(ascii: "\"")
        guard bytes.first == quote else {
            guard Self.isKey(bytes) else { return nil }
            self.text = header
            return
        }
        guard bytes.count >= 2, bytes.last == quote, let inner = Self.unquoted(bytes[1..<(bytes.count - 1)]),
            Self.isKey(inner)
        else { return nil }
        self.text = String(decoding: inner, as: UTF8.self)
    }

    private static func isKey(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.count <= Self.maximumLength && bytes.allSatisfy { (0x21...0x7e).contains($0) }
    }

    /// A structured-field string escapes only the quote and the backslash.
    private static func unquoted(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var result: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            let isSpecial = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            if isEscaped {
                guard isSpecial else { return nil }
                result.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if isSpecial {
                return nil
            } else {
                result.append(byte)
            }
        }
        return isEscaped ? nil : result
    }
}

extension Request {
    /// The idempotency key, if there is one.
    ///
    /// - Throws: 400 `invalid_idempotency_key`.
    public func idempotencyKey() throws(APIError) -> IdempotencyKey? {
        let values = self.headers[values: .idempotencyKey]
        guard let value = values.first else { return nil }
        guard values.count == 1, let key = IdempotencyKey(value) else {
            throw .invalid(
                header: "Idempotency-Key",
                code: "invalid_idempotency_key",
                detail: "Send one key of 1 to 255 visible ASCII characters."
            )
        }
        return key
    }

    /// The idempotency key, which must be there.
    ///
    /// - Throws: 400 `idempotency_key_required` or `invalid_idempotency_key`.
    public func requireIdempotencyKey() throws(APIError) -> IdempotencyKey {
        guard let key = try self.idempotencyKey() else {
            throw .invalid(
                header: "Idempotency-Key",
                code: "idempotency_key_required",
                detail: "Send a key of your own, and the same one when you repeat the request."
            )
        }
        return key
    }
}
