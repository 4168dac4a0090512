import Cryptography
import Foundation
import Primitives

/// A token of Apple's push service whose form is right.
struct PushToken: Hashable, Sendable {
    /// Lower-case hexadecimal; its length may change, says Apple.
    let text: String

    /// The shortest and the longest that is taken.
    static let lengths = 16...200
    /// The most of one person.
    static let perPerson = 10
    /// What it is sealed as.
    static let field = "push.token"

    /// Checks a request.
    init(checking text: String) throws(NotificationError) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(Self.isHexDigit) else {
            throw .malformedPushToken
        }
        self.text = text.lowercased()
    }

    /// Finds it again; nobody can guess a token from it, because tokens are made by chance.
    var hash: String { Hex.encode(Array(SHA256.hash(data: Array(self.text.utf8)))) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}

/// A token as its owner sees it.
struct RegisteredToken: Hashable, Sendable {
    let id: UUID
    let deviceID: UUID?
    let registeredAt: Date
}
