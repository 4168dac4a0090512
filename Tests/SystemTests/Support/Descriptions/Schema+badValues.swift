extension Schema {
    /// JSON values that break the schema.
    var badValues: [String] {
        var values = Self.samples.filter { !self.types.contains($0.type) }.map(\.json)
        if self.types.contains("string") {
            values += Self.brokenTexts + self.badTexts.map(Tree.quoted)
        }
        if self.types.contains("integer") {
            values += Self.brokenNumbers + Self.integers.filter { !self.accepts($0) }.map { String($0) }
        }
        return values
    }

    /// Texts that break the schema.
    var badTexts: [String] { (Self.oddTexts + [self.tooLong]).filter { !self.accepts($0) } }

    /// One letter more than allowed, and a letter of two bytes.
    private var tooLong: String {
        String(repeating: "\u{e9}", count: Int(self.tree["maxLength"]?.integer ?? 5000) + 1)
    }

    /// A value of each type but null, which means "absent" where a field is optional.
    private static let samples: [(type: String, json: String)] = [
        ("boolean", "true"), ("integer", "5"), ("number", "1.5"), ("string", #""text""#), ("array", "[1]"),
        ("object", #"{"a":1}"#), ("object", "{}"),
    ]

    private static let integers: [Int64] = [-1, 0, 101, 1001, -101, .min, .max, .min + 1, 1 << 53]

    /// No plain integers within 64 bits.
    private static let brokenNumbers = [
        "1.5", "1.0", "1e3", "1E-2", "-0.0", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
        "1" + String(repeating: "0", count: 400), "01", "+1", ".5", "1.", "-", "NaN", "Infinity", "tru",
    ]

    /// Strings that are no JSON, or none that a text can hold.
    private static let brokenTexts = [
        #""a\u0000b""#, #""\ud83d""#, #""\udca9\ud83d""#, #""\x41""#, #""\u12""#, "\"a\u{1}b\"", "\"a\nb\"", "'text'",
    ]

    /// What people, keyboards and attackers send.
    private static let oddTexts: [String] = [
        "", " ", "a", "ab", "abcdefghijklmnopqrstu", String(repeating: "x", count: 5000),
        // Looks like "ada", and is not: Cyrillic, full width, combining, ligature, dotless, mathematical
        "аdaада", "ａｄａ", "ad\u{301}ada", "ﬁnn", "adaı", "İstan", "𝐚𝐝𝐚",
        // Cannot be seen: zero width, joiners, direction, byte order mark, soft hyphen, tags, variation selector
        "ada\u{200b}ada", "ada\u{200d}ada", "\u{202e}adaada", "\u{2066}ada\u{2069}", "\u{feff}ada", "ada\u{ad}ada",
        "ada\u{e0061}", "ada\u{fe0f}", "ada\u{2028}ada",
        "ada😀", "👨‍👩‍👧", "\u{1f1f3}\u{1f1ec}", "ada\u{e000}", "\u{fffd}ada", "عادة", "אדהאדה", "١٢٣٤", "１２３４",
        "ada ada", "ada\tada", "ada\nada", "ada\u{7f}ada", "ada\u{7}", "../../etc", "ada'--", "<script>", "%00",
        "@@ada",
        "${jndi:x}", "-1", "0", "null",
        // Forms: ids, days, moments, addresses
        "01932f5e-0000-7000-8000-00000000000g", "01932f5e000070008000000000000001",
        "{01932f5e-0000-7000-8000-000000000001}", "2020-02-30", "2020-2-3", "20200203", "2026-13-01T00:00:00Z",
        "2026-01-01 00:00:00", "yesterday", "someone", "someone@", "@example.com", "a@b", "a b@example.com",
        "a@@example.com", "a@exa mple.com", "a@example..com",
    ]
}
