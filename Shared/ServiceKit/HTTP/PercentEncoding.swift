/// Percent-encoded texts (RFC 3986).
enum PercentEncoding {
    /// Whether bytes are UTF-8 once they are decoded, and each `%` has its two digits.
    static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
        var decoded: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = iterator.next().flatMap(Self.digit), let low = iterator.next().flatMap(Self.digit) else {
                return false
            }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self) != nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
