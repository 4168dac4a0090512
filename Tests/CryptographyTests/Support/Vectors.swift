import Foundation
import TestSupport
import Testing

/// A published example: what goes in and what comes out, in hexadecimal.
///
/// `vectors.txt` has one per line. Sources: NIST CAVP (SHS, GCM, ECDSA and PKV on P-256, RSA PKCS#1 1.5), RFC 2202 and 4231
/// (HMAC), RFC 5869 (HKDF), RFC 7914 (scrypt).
struct Vector: Sendable, CustomTestStringConvertible {
    let line: Int
    let name: String
    let fields: [String]

    var testDescription: String { "\(self.name), line \(self.line)" }

    /// The bytes of a field.
    func callAsFunction(_ index: Int) -> [UInt8] { bytes(self.fields[index]) }

    func number(_ index: Int) -> Int { Int(self.fields[index]) ?? -1 }

    /// Whether the example is one that must be taken.
    var isGood: Bool { self.fields.last != "refused" }

    static let all: [Vector] = {
        let path = Repository.path("Tests/CryptographyTests/vectors.txt")
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").enumerated().map { index, line in
            let words = line.split(separator: " ").map(String.init)
            return Vector(line: index + 1, name: words[0], fields: Array(words.dropFirst()))
        }
    }()

    static func named(_ names: String...) -> [Vector] { self.all.filter { names.contains($0.name) } }
}

/// The bytes of hexadecimal text; "-" is none.
func bytes(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Substring(text == "-" ? "" : text)
    while !rest.isEmpty {
        guard let byte = UInt8(rest.prefix(2), radix: 16) else { return [] }
        bytes.append(byte)
        rest = rest.dropFirst(2)
    }
    return bytes
}
