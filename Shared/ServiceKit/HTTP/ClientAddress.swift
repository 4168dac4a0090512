/// An IP address: 16 bytes, in which IPv4 stands as IPv6 writes it (`::ffff:192.0.2.1`).
public struct ClientAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0xffff_0000_0000

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads an address, with or without a port, brackets or a zone; nil when it is none.
    public init?(text: some StringProtocol) {
        let bare = Self.withoutPort(String(text).trimmingSpaces())
        if let number = Self.dotted(bare) {
            self.init(high: 0, low: Self.mappedPrefix | UInt64(number))
        } else if let (high, low) = Self.coloned(bare) {
            self.init(high: high, low: low)
        } else {
            return nil
        }
    }

    var isIPv4: Bool { self.high == 0 && self.low >> 32 == Self.mappedPrefix >> 32 }

    /// What counts as one client: an IPv4 address, or the /64 that an IPv6 customer has to himself.
    var network: ClientAddress { self.isIPv4 ? self : ClientAddress(high: self.high, low: 0) }

    // MARK: Reading

    /// `[::1]:80` and `192.0.2.1:80` lose what is not the address; `fe80::1%eth0` its zone.
    private static func withoutPort(_ text: String) -> Substring {
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return text[text.index(after: text.startIndex)..<end]
        }
        if let colon = text.firstIndex(of: ":"), text.contains("."), text.lastIndex(of: ":") == colon {
            return text[..<colon]
        }
        return text.prefix { $0 != "%" }
    }

    private static func dotted(_ text: Substring) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            // No leading zeros: some read them as octal.
            guard part.utf8.count <= 3, part.utf8.allSatisfy({ 48...57 ~= $0 }), part == "0" || part.first != "0",
                let byte = UInt8(part)
            else { return nil }
            number = number << 8 | UInt32(byte)
        }
        return number
    }

    private static func coloned(_ text: Substring) -> (high: UInt64, low: UInt64)? {
        guard text.utf8.count <= 45, let halves = Self.halves(of: text) else { return nil }
        // An IPv4 address may stand at the end of the whole, nowhere else.
        guard let head = Self.groups(halves.head, mayEndDotted: !halves.isShort),
            let tail = Self.groups(halves.tail, mayEndDotted: true)
        else { return nil }
        let count = head.count + tail.count
        guard halves.isShort ? count <= 7 : count == 8 else { return nil }
        let groups = head + Array(repeating: 0, count: 8 - count) + tail
        let number = { (part: ArraySlice<UInt16>) in part.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
        return (number(groups[..<4]), number(groups[4...]))
    }

    /// What stands before and after `::`.
    private static func halves(of text: Substring) -> (head: Substring, tail: Substring, isShort: Bool)? {
        guard let gap = text.firstRange(of: "::") else { return (text, "", false) }
        let tail = text[gap.upperBound...]
        return tail.contains("::") ? nil : (text[..<gap.lowerBound], tail, true)
    }

    private static func groups(_ text: Substring, mayEndDotted: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndDotted, index == parts.count - 1, let number = Self.dotted(part) {
                groups += [UInt16(truncatingIfNeeded: number >> 16), UInt16(truncatingIfNeeded: number)]
                continue
            }
            guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ Self.isHexadecimal($0) }),
                let group = UInt16(part, radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }

    private static func isHexadecimal(_ unit: UInt8) -> Bool {
        switch unit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(self.trimmingPrefix(while: isSpace).reversed().trimmingPrefix(while: isSpace).reversed())
    }
}
