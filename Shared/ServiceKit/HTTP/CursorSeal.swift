import Cryptography
import Primitives

/// Turns a place in a list into the text of a cursor, and back.
///
/// The text ends with a keyed hash over the place, the list and its reader: one that was changed, or that belongs to
/// another list or person, is no cursor. It hides nothing and needs not: a place is a number or an id of the reader's
/// own list. While the key is being replaced, cursors of all keys are read, and new ones are made with the first.
struct CursorSeal: Sendable {
    private static let tagLength = 8
    /// The longest place.
    private static let maximumLength = 32

    private let first: SymmetricKey
    private let others: [SymmetricKey]

    init(_ first: SymmetricKey, others: [SymmetricKey] = []) {
        self.first = first
        self.others = others
    }

    func text(of place: [UInt8], in list: String) -> String {
        Base64URL.encode(place + Self.tag(place, list, self.first))
    }

    /// The place, nil when the text is none of ours.
    func place(in text: String, of list: String) -> [UInt8]? {
        guard text.utf8.count <= 2 * Self.maximumLength, let bytes = Base64URL.decode(text),
            bytes.count > Self.tagLength
        else { return nil }
        let place = Array(bytes.dropLast(Self.tagLength))
        let tag = bytes.suffix(Self.tagLength)
        return ([self.first] + self.others).contains { ConstantTime.equal(Self.tag(place, list, $0), tag) }
            ? place : nil
    }

    private static func tag(_ place: [UInt8], _ list: String, _ key: SymmetricKey) -> [UInt8] {
        let hash = HMAC<SHA256>.authenticationCode(
            for: [UInt8(place.count)] + place + Array(list.utf8),
            using: key
        )
        return Array(hash.prefix(Self.tagLength))
    }
}
