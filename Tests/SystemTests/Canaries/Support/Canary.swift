import Cryptography
import Foundation
import Primitives

/// A value that stands for personal data or a secret, and that occurs nowhere by chance.
struct Canary: Sendable, Hashable {
    /// A form of it that a careless writer would make.
    struct Form: Sendable, Hashable {
        let name: String
        let text: String
    }

    /// What it stands for, such as BVN.
    let name: String
    let text: String
    /// So short that it only counts where nothing of its kind stands beside it.
    var isShort = false
    /// Whether a hash of it is as good as the value, because all values can be tried.
    var isGuessable = true

    /// What is looked for; letters of either case are the same.
    var forms: [Form] {
        var forms = [Form(name: "plain", text: self.text)]
        for spelling in Set([self.text, self.text.uppercased(), self.text.lowercased()]).sorted() {
            let bytes = Array(spelling.utf8)
            forms.append(Form(name: "hex", text: Hex.encode(bytes)))
            forms += Self.base64(bytes).map { Form(name: "base64", text: $0) }
            forms.append(
                Form(name: "JSON escapes", text: spelling.utf16.map { String(format: "\\u%04x", $0) }.joined())
            )
            if let percent = spelling.addingPercentEncoding(withAllowedCharacters: .alphanumerics) {
                forms.append(Form(name: "percent escapes", text: percent))
            }
        }
        forms.append(Form(name: "escaped slashes", text: self.text.replacingOccurrences(of: "/", with: "\\/")))
        if self.isGuessable {
            let hash = Array(SHA256.hash(data: Array(self.text.utf8)))
            forms.append(Form(name: "SHA-256", text: Hex.encode(hash)))
            forms.append(Form(name: "SHA-256 in base64", text: Data(hash).base64EncodedString()))
        }
        // In a text that was quoted again its backslashes are doubled.
        forms += forms.filter { $0.text.contains("\\") }.map {
            Form(name: $0.name + ", quoted again", text: $0.text.replacingOccurrences(of: "\\", with: "\\\\"))
        }
        return forms
    }

    /// The characters that base64 makes of these bytes wherever they stand in a longer text, in both alphabets.
    private static func base64(_ bytes: [UInt8]) -> [String] {
        (0..<3).flatMap { shift -> [String] in
            let whole = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
            // The first characters hold bits of what stands before, the last ones of what comes after.
            let first = (shift * 8 + 5) / 6
            let last = (shift + bytes.count) * 8 / 6
            let text = String(whole.dropFirst(first).prefix(last - first))
            guard text.utf8.count >= Self.shortestBase64 else { return [] }
            let other = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            return Set([text, other]).sorted()
        }
    }

    /// Less would be met by chance in what is sealed.
    private static let shortestBase64 = 8
}
