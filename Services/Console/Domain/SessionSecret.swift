import Cryptography
import Primitives

/// What a browser proves its session with: random, in its cookie and nowhere else.
struct SessionSecret: Sendable, Hashable {
    /// What the cookie holds.
    let text: String

    private static let byteCount = 32

    /// A new one.
    init() { self.text = Base64URL.encode(randomBytes(Self.byteCount)) }

    /// Reads a cookie; nil when it cannot be one.
    init?(cookie text: String) {
        guard let bytes = Base64URL.decode(text[...]), bytes.count == Self.byteCount else { return nil }
        self.text = text
    }

    /// By which its row is found: who reads the rows cannot make the cookie of it.
    var hash: String { self.digest("session") }

    /// Stands in a header of everything that changes something: other sites can send the cookie, and cannot know this.
    var guardWord: String { self.digest("guard") }

    private func digest(_ purpose: String) -> String {
        Hex.encode(Array(SHA256.hash(data: Array("console \(purpose) \(self.text)".utf8))))
    }
}

extension SessionSecret: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    var description: String { "SessionSecret([redacted])" }
    /// No children, so that `dump` shows nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}
