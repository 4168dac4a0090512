/// A username as somebody wrote it, in the form in which it is stored.
///
/// The rules of who may have which name are auth's; here a text only has to be a name that can exist.
struct Username: Hashable, Sendable {
    /// Lower case.
    let text: String

    /// How long names are.
    static let lengths = 3...20

    /// Takes a name in any case; nil for a text that no user can have as name.
    init?(_ text: some StringProtocol) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(Self.isNameUnit) else { return nil }
        self.text = text.lowercased()
    }

    /// The beginning of a name, as people type it into a search: with or without `@`.
    ///
    /// At least as long as the shortest name, so that a search says little more than a look at one profile.
    init?(beginning text: String) {
        self.init(text.hasPrefix("@") ? text.dropFirst() : text[...])
    }

    private static func isNameUnit(_ unit: UInt8) -> Bool {
        switch unit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
