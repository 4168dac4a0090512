import Primitives

/// A data key under a master key; safe to store.
///
/// Text and JSON form `k1.<master key id>.<base64url>`.
public struct WrappedKey: Hashable, Sendable {
    private static let prefix = "k1"

    /// The master key that opens it.
    public let masterKeyID: String
    let bytes: [UInt8]

    init(masterKeyID: String, bytes: [UInt8]) {
        self.masterKeyID = masterKeyID
        self.bytes = bytes
    }

    /// Reads the text form.
    ///
    /// - Throws: `SealingError` with `malformed`.
    public init(text: String) throws(SealingError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == Self.prefix, !parts[1].isEmpty,
            let bytes = Base64URL.decode(parts[2]), bytes.count == DataKey.byteCount + AEAD.overhead
        else { throw SealingError(.malformed, "not a wrapped key") }
        self.masterKeyID = String(parts[1])
        self.bytes = bytes
    }

    /// The text form.
    public var text: String { "\(Self.prefix).\(self.masterKeyID).\(Base64URL.encode(self.bytes))" }
}

extension WrappedKey: Codable {
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
