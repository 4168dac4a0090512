import Sealing

/// What a webhook says, if it is signed as it came or, packed on the way, as it was before.
enum SignedBody {
    /// The most bytes that are unpacked before it is known who sent them: many times what the provider sends.
    static let longestUnsigned = 16 * 1024
    /// Characters of a signature: the base64 of the code's bytes, or of their hexadecimal text.
    private static let signatureLengths = [28, 56]

    /// The bytes to read; nil when they are not signed, or do not unpack to `limit` bytes or fewer.
    static func verified(_ raw: [UInt8], header: String, tokens: [String], limit: Int) -> [UInt8]? {
        guard self.signatureLengths.contains(header.utf8.count) else { return nil }
        let isPacked = Gzip.isGzip(raw)
        if WebhookSignature.verifyAnchor(header: header, body: raw, tokens: tokens) {
            return isPacked ? Gzip.unpack(raw, limit: limit) : raw
        }
        guard isPacked, raw.count <= self.longestUnsigned, let unpacked = Gzip.unpack(raw, limit: limit) else {
            return nil
        }
        return WebhookSignature.verifyAnchor(header: header, body: unpacked, tokens: tokens) ? unpacked : nil
    }
}
