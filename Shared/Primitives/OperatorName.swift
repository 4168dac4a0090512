/// How operators are named in headers, sessions and the audit.
public enum OperatorName {
    /// The most characters of a name.
    private static let longest = 64

    /// The one spelling of a name; nil when it is none.
    ///
    /// Where two people have to agree names are compared: `Ada` and `ada` are one person. Clerk tells upper from lower
    /// case in its ids, `user_2aB` from `user_2Ab`; here they are one name. That two people have ids which differ in
    /// case alone is next to impossible, and would let them do less: one cannot agree with the other.
    public static func canonical(_ text: String) -> String? {
        var units = text.utf8.map { (0x41...0x5a).contains($0) ? $0 + 0x20 : $0 }[...]
        while units.first == 0x20 { units.removeFirst() }
        while units.last == 0x20 { units.removeLast() }
        guard (1...Self.longest).contains(units.count), units.allSatisfy(Self.isUnit) else { return nil }
        return String(decoding: units, as: UTF8.self)
    }

    private static func isUnit(_ unit: UInt8) -> Bool {
        switch unit {
        case 0x61...0x7a, 0x30...0x39, 0x2e, 0x5f, 0x40, 0x2d: true
        default: false
        }
    }
}
