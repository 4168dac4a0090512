/// Bytes as base64 text that may stand in URLs, headers and tokens (RFC 4648 section 5, without padding).
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text form.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var units: [UInt8] = []
        units.reserveCapacity((bytes.count * 4 + 2) / 3)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                units.append(Self.alphabet[Int(buffer >> bits & 63)])
            }
        }
        if bits > 0 { units.append(Self.alphabet[Int(buffer << (6 - bits) & 63)]) }
        return String(decoding: units, as: UTF8.self)
    }

    /// The bytes, nil when the text is not in exactly the form that `encode` gives.
    ///
    /// One text per value: padding, the other alphabet and stray last bits are refused.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3 / 4)
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for unit in text.utf8 {
            guard let value = Self.value(unit) else { return nil }
            buffer = buffer << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        // Six bits over are a character too many, others must be the zeros that `encode` puts there.
        guard bits < 6, buffer & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(_ unit: UInt8) -> UInt8? {
        switch unit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): unit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): unit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): unit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
