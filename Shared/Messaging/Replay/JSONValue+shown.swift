import Cryptography
import Foundation
import Primitives

/// How values of rows and events are shown to operators: without what is sealed or secret.
extension JSONValue {
    private static let longestText = 300

    /// What is sealed, hashed as a secret, or bytes becomes a hash of itself: it tells equal from different, and no more.
    var shown: JSONValue {
        switch self {
        case .string(let text): .string(Self.shown(text))
        case .array(let values): .array(values.map(\.shown))
        case .object(let members): .object(members.mapValues(\.shown))
        case .null, .bool, .integer, .number: self
        }
    }

    private static func shown(_ text: String) -> String {
        if text.hasPrefix("\\x"), text.dropFirst(2).allSatisfy(\.isHexDigit) { return "bytes:\(Self.hash(text))" }
        if text.hasPrefix("scrypt") || text.hasPrefix("k1.") { return "secret:\(Self.hash(text))" }
        let open = text.replacing(#/s1\.[A-Za-z0-9_\-]+=*/#) { "sealed:\(Self.hash(String($0.output)))" }
        return open.count > Self.longestText ? "\(open.prefix(Self.longestText))..." : open
    }

    private static func hash(_ text: String) -> String {
        Hex.encode(Array(SHA256.hash(data: Data(text.utf8)).prefix(4)))
    }
}
