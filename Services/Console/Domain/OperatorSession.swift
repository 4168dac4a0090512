import Foundation
import Primitives

/// Who has signed in to the page, and until when; kept by the browser alone, as a signed text.
struct OperatorSession: Sendable, Hashable {
    /// How somebody has signed in.
    enum Way: String, Sendable {
        /// By a token of their own.
        case token
        /// By a role in the organization at the identity provider.
        case organization
    }

    /// As the audit names who acts.
    let name: String
    let way: Way
    /// Names the token or the role it was opened with: when that is withdrawn the session ends too.
    let credential: String
    let expiresAt: Date

    /// Names operators in headers and in the audit, in the one spelling that they have there.
    static func isName(_ text: String) -> Bool { OperatorName.canonical(text) == text }
}

/// Its text, which a signature follows.
extension OperatorSession {
    /// Four parts; the name is encoded, for it may have any visible character.
    var text: String {
        let seconds = Int64(self.expiresAt.timeIntervalSince1970)
        return "\(self.way.rawValue).\(Base64URL.encode(Array(self.name.utf8))).\(self.credential).\(seconds)"
    }

    /// Reads the text; nil when it is none.
    init?(text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let way = Way(rawValue: String(parts[0])), let seconds = Int64(parts[3]),
            let bytes = Base64URL.decode(parts[1]), let name = String(validating: bytes, as: UTF8.self),
            Self.isName(name)
        else { return nil }
        self.init(
            name: name,
            way: way,
            credential: String(parts[2]),
            expiresAt: Date(timeIntervalSince1970: Double(seconds))
        )
    }
}
