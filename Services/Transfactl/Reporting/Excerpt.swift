/// Bodies as a report shows them: on one line, short, without what has no business on a screen.
enum Excerpt {
    private static let longest = 200

    /// The text of a body; empty when there is none.
    static func of(_ body: [UInt8]) -> String {
        let text = Self.redacted(String(decoding: body, as: UTF8.self))
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        return line.count <= Self.longest ? line : "\(line.prefix(Self.longest))..."
    }

    private static func redacted(_ text: String) -> String {
        let secret = /"(pin|current_pin|bvn|business_bvn|approval_token|jwt|public_key)"\s*:\s*"[^"]*"/
        return text.replacing(secret) { "\"\($0.output.1)\":\"[redacted]\"" }
    }
}
