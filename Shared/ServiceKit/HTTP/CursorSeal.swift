import Crypto
import Primitives

/// Turns a place in a list into the text of a cursor, and back.
///
/// The text ends with a keyed hash over the place, the list and its reader: one that was changed, or that belongs to
/// another list or person, is no cursor. It hides nothing and needs not: a place is a number or an id of the reader's
/// own list.
struct CursorSeal: Sendable {
    private static let tagLength = 8
    /// The longest place.
    private static let maximumLength = 32

    private let key: SymmetricKey

    init(_ key: SymmetricKey) {
        self.key = key
    }

    func text(of place: [UInt8], in list: String) -> String {
        Base64URL.encode(place + self.tag(place, list))
    }

    /// The place, nil when the text is none of ours.
    func place(in text: String, of list: String) -> [UInt8]? {
        guard text.utf8.count <= 2 * Self.maximumLength, let bytes = Base64URL.decode(text),
            bytes.count > Self.tagLength
        else { return nil }
        let place = Array(bytes.dropLast(Self.tagLength))
        return Self.areEqual(self.tag(place, list), bytes.suffix(Self.tagLength)) ? place : nil
    }

    private func tag(_ place: [UInt8], _ list: String) -> [UInt8] {
        let hash = HMAC<SHA256>.authenticationCode(
            for: [UInt8(place.count)] + place + Array(list.utf8),
            using: self.key
        )
        return Array(hash.prefix(Self.tagLength))
    }

    /// In a time that does not depend on where they differ.
    private static func areEqual(_ one: [UInt8], _ other: ArraySlice<UInt8>) -> Bool {
        one.count == other.count && zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
