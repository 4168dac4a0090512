/// An e-mail address in the one form in which it is kept: a dot-atom (RFC 5321, 4.1.2) at a host name in lower case.
///
/// The part before the `@` is its host's business, and stays as it was written.
public struct EmailAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address.
    public let description: String

    /// Reads what a person has written; nil when it is no address that mail can be sent to.
    public init?(_ written: String) {
        let text = written.drop { $0 == " " }
        let address = text.lastIndex { $0 != " " }.map { text[...$0] } ?? ""
        guard address.utf8.count <= 254, let at = address.lastIndex(of: "@") else { return nil }
        let (mailbox, host) = (address[..<at], address[address.index(after: at)...])
        guard mailbox.utf8.count <= 64, Self.isDotAtom(mailbox), Self.isHost(host) else { return nil }
        self.description = "\(mailbox)@\(host.lowercased())"
    }

    private static func isDotAtom(_ text: Substring) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.utf8.allSatisfy { Self.isAlphanumeric($0) || "!#$%&'*+/=?^_`{|}~-".utf8.contains($0) }
        }
    }

    private static func isHost(_ text: Substring) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.last?.utf8.contains(where: { !Self.isDigit($0) }) == true else { return false }
        return labels.allSatisfy { label in
            let hyphen = UInt8(ascii: "-")
            return (1...63).contains(label.utf8.count) && label.utf8.first != hyphen && label.utf8.last != hyphen
                && label.utf8.allSatisfy { Self.isAlphanumeric($0) || $0 == hyphen }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        Self.isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
