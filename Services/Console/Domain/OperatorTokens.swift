import Cryptography
import Primitives

/// The operators who sign in with a token of their own; of the tokens only hashes are known.
struct OperatorTokens: Sendable {
    /// Names by the SHA-256 of the token, in lower-case hexadecimal.
    private let names: [String: String]

    var isEmpty: Bool { self.names.isEmpty }

    /// Why a list is none.
    struct Malformed: Error {}

    /// Reads `<name>:<SHA-256 of the token, hexadecimal>`; no two have one token, and who has two, because one is being
    /// replaced, is still one.
    ///
    /// Names in another spelling than the audit's are refused: who is two could approve what they proposed.
    init(_ entries: [String]) throws(Malformed) {
        var names: [String: String] = [:]
        for entry in entries {
            guard let colon = entry.lastIndex(of: ":") else { throw Malformed() }
            let name = String(entry[..<colon])
            let digest = entry[entry.index(after: colon)...].lowercased()
            guard OperatorSession.isName(name), digest.utf8.count == 64, Hex.decode(digest) != nil,
                names.updateValue(name, forKey: digest) == nil
            else { throw Malformed() }
        }
        self.names = names
    }

    /// Whose token it is, and what names the token.
    ///
    /// A look-up by the hash: how long it takes says nothing about the tokens.
    func owner(of token: String) -> (name: String, credential: String)? {
        let digest = Hex.encode(Array(SHA256.hash(data: Array(token.utf8))))
        return self.names[digest].map { ($0, Self.credential(digest)) }
    }

    /// Whether somebody still has the token that is named so.
    func has(_ name: String, _ credential: String) -> Bool {
        self.names.contains { $0.value == name && Self.credential($0.key) == credential }
    }

    /// Too short to search tokens by, long enough to tell them apart.
    private static func credential(_ digest: String) -> String { String(digest.prefix(12)) }
}
