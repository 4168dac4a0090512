import Primitives

/// A piece of personal data under its user's key; safe to store and to send.
///
/// Text form `s1.<base64url>`.
public struct SealedField: Hashable, Sendable {
    /// What readers show in place of data whose key was destroyed.
    public static let erasedText = "[erased]"

    private static let prefix = "s1."

    private let bytes: [UInt8]

    /// Seals a text.
    ///
    /// Sealing the same text twice gives different results; use `BlindIndex` to look values up.
    public static func seal(
        _ plaintext: String,
        key: DataKey,
        context: SealContext
    ) throws(SealingError) -> SealedField {
        try Self.seal(bytes: Array(plaintext.utf8), key: key, context: context)
    }

    /// Seals the bytes of a file.
    public static func seal(
        bytes: [UInt8],
        key: DataKey,
        context: SealContext
    ) throws(SealingError) -> SealedField {
        SealedField(bytes: try AEAD.seal(bytes, key: key.key, associated: context.associated))
    }

    /// Opens it.
    ///
    /// - Throws: `SealingError` with `notAuthentic` under another key or context, or when a bit has changed.
    public func open(key: DataKey, context: SealContext) throws(SealingError) -> String {
        guard let text = String(validating: try self.openBytes(key: key, context: context), as: UTF8.self) else {
            throw SealingError(.malformed, "the sealed bytes are no text")
        }
        return text
    }

    /// Opens what may be no text.
    ///
    /// - Throws: `SealingError` with `notAuthentic` under another key or context, or when a bit has changed.
    public func openBytes(key: DataKey, context: SealContext) throws(SealingError) -> [UInt8] {
        try AEAD.open(self.bytes, key: key.key, associated: context.associated)
    }

    /// Reads the text form.
    ///
    /// - Throws: `SealingError` with `malformed`.
    public init(text: String) throws(SealingError) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64URL.decode(text.dropFirst(Self.prefix.count)),
            bytes.count >= AEAD.overhead
        else { throw SealingError(.malformed, "not a sealed field") }
        self.bytes = bytes
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// The text form.
    public var text: String { Self.prefix + Base64URL.encode(self.bytes) }
}

extension SealedField: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        try self.init(text: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}

extension SealedField: CustomStringConvertible {
    /// A word; the sealed bytes have no business in a log either.
    public var description: String { "[sealed]" }
}
