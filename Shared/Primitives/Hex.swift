/// Bytes as lower-case hexadecimal text.
public enum Hex {
    /// Two digits per byte.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        let count = bytes.count * 2
        // Safe: two digits are written per byte, and the capacity is twice the number of bytes.
        return unsafe String(unsafeUninitializedCapacity: count) { text in
            var position = 0
            for byte in bytes {
                unsafe text[position] = Self.digit(byte >> 4)
                unsafe text[position + 1] = Self.digit(byte & 15)
                position += 2
            }
            return position
        }
    }

    /// The bytes of hexadecimal text in either case, nil when it is none.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for unit in text.utf8 {
            guard let digit = Self.value(unit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    static func digit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") - 10 + nibble
    }

    static func value(_ unit: UInt8) -> UInt8? {
        switch unit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): unit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): unit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): unit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
