import Cryptography
import Foundation

/// Whether a secret text could be found by trying.
///
/// Nobody can see of a text that it is random. But most that is not shows: it is short, has few characters or runs of
/// neighbours, repeats itself, or says what it is.
struct SecretStrength: Sendable {
    private let characters: Int
    private let isOurs: Bool

    /// Of a text with so many characters or more; of our own nothing but random ones are taken.
    init(_ characters: Int, isOurs: Bool = true) {
        self.characters = characters
        self.isOurs = isOurs
    }

    /// So much must show of each random character: less than is seen of a hexadecimal digit when a text is short.
    private static let bitsOfCharacter = 1.6
    /// So few characters must be of a larger alphabet than hexadecimal digits.
    private static let fewCharacters = 16
    /// Marks of examples, which no secret has.
    private static let examples = ["change-me", "change_me", "changeme", "example", "replace-me", "placeholder"]
    /// Words that people make secrets of.
    ///
    /// Random text has one of them once in a million times.
    private static let words = ["password", "passwort", "secret", "letmein", "qwerty"]

    /// Whether it says that it is one.
    static func isExample(_ text: String) -> Bool {
        let text = text.lowercased()
        return Self.examples.contains { text.contains($0) }
    }

    /// Why it is too weak, without it; nil when it will do.
    func weakness(of text: String) -> String? {
        guard !Self.isExample(text) else { return "is an example" }
        guard text.count >= self.characters else { return "must have \(self.characters) characters or more" }
        let lower = text.lowercased()
        if self.isOurs, Self.words.contains(where: { lower.contains($0) }) { return "is made of words" }
        let bytes = Array(text.utf8)
        let bits = Double(Self.block(bytes).count) * min(Self.entropy(bytes), Self.entropy(Self.steps(bytes)))
        guard bits >= Double(self.characters) * Self.bitsOfCharacter else { return "could be guessed" }
        let isHexadecimal = bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || Self.isHexLetter($0) }
        return bytes.count < Self.fewCharacters && isHexadecimal && self.characters > 1
            ? "has hexadecimal digits alone" : nil
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }

    /// What is repeated until the end; all of it when nothing is.
    private static func block(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let period = (1..<max(2, bytes.count)).first { period in
            period <= bytes.count / 2 && zip(bytes, bytes.dropFirst(period)).allSatisfy { $0 == $1 }
        }
        return bytes.prefix(period ?? bytes.count)
    }

    /// From each byte to the next: always the same in 0123 and in abcd.
    static func steps(_ bytes: [UInt8]) -> [UInt8] { zip(bytes, bytes.dropFirst()).map { $1 &- $0 } }

    /// Bits for each of them, by how often each stands there (Shannon).
    private static func entropy(_ bytes: [UInt8]) -> Double {
        let counts = Dictionary(bytes.map { ($0, 1.0) }, uniquingKeysWith: +).values
        let all = Double(max(1, bytes.count))
        return counts.reduce(0) { $0 - $1 / all * log2($1 / all) }
    }
}

/// Whether bytes in a setting can be random ones.
enum RandomBytes {
    /// The text of one key, without `id:` and `whsec_` before it.
    static func encoded(in entry: String) -> String {
        guard !entry.contains("BEGIN") else { return entry }
        let value = entry.split(separator: ":").last.map(String.init) ?? entry
        return value.hasPrefix("whsec_") ? String(value.dropFirst("whsec_".count)) : value
    }

    /// Why it is too weak; nil when it will do, and when it is no key at all, which its reader says better.
    static func weakness(of entry: String) -> String? {
        guard !SecretStrength.isExample(entry) else { return "is an example" }
        let text = Self.encoded(in: entry)
        let bytes =
            text.contains("BEGIN")
            ? P256.PrivateKey(setting: text).map { Array($0.rawRepresentation) }
            : Data(base64Encoded: text).map { Array($0) }
        guard let bytes, !bytes.isEmpty else { return nil }
        // Of 32 random ones 30 differ; that fewer than 16 do happens to nobody.
        let fewest = bytes.count / 2
        guard Set(bytes).count >= fewest, Set(SecretStrength.steps(bytes)).count >= fewest else {
            return "could be guessed"
        }
        return bytes.allSatisfy { 0x20...0x7e ~= $0 } ? "is a text, not random bytes" : nil
    }
}
