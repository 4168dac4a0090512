extension JSON {
    /// Reads one value that fills the text; nil when it is not JSON or nests deeper than 32.
    init?(parsing bytes: some Sequence<UInt8>) {
        var parser = Parser(bytes: Array(bytes))
        guard let value = parser.value(depth: 0), parser.isAtEnd() else { return nil }
        self = value
    }

    private struct Parser {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        private var current: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

        private mutating func skipSpace() {
            while let byte = self.current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
                self.position += 1
            }
        }

        mutating func isAtEnd() -> Bool {
            self.skipSpace()
            return self.position == self.bytes.count
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            self.skipSpace()
            guard self.current == byte else { return false }
            self.position += 1
            return true
        }

        mutating func value(depth: Int) -> JSON? {
            self.skipSpace()
            guard depth <= 32, let byte = self.current else { return nil }
            switch byte {
            case UInt8(ascii: "{"): return self.object(depth: depth)
            case UInt8(ascii: "["): return self.array(depth: depth)
            case UInt8(ascii: "\""): return self.string().map { .string($0) }
            case UInt8(ascii: "t"): return self.word("true", .bool(true))
            case UInt8(ascii: "f"): return self.word("false", .bool(false))
            case UInt8(ascii: "n"): return self.word("null", .null)
            default: return self.number()
            }
        }

        private mutating func word(_ word: String, _ value: JSON) -> JSON? {
            guard self.bytes[self.position...].starts(with: word.utf8) else { return nil }
            self.position += word.utf8.count
            return value
        }

        private mutating func object(depth: Int) -> JSON? {
            self.position += 1
            var members: [String: JSON] = [:]
            if self.take(UInt8(ascii: "}")) { return .object(members) }
            repeat {
                self.skipSpace()
                guard self.current == UInt8(ascii: "\""), let name = self.string(), self.take(UInt8(ascii: ":")),
                    let value = self.value(depth: depth + 1)
                else { return nil }
                members[name] = value
            } while self.take(UInt8(ascii: ","))
            return self.take(UInt8(ascii: "}")) ? .object(members) : nil
        }

        private mutating func array(depth: Int) -> JSON? {
            self.position += 1
            var items: [JSON] = []
            if self.take(UInt8(ascii: "]")) { return .array(items) }
            repeat {
                guard let item = self.value(depth: depth + 1) else { return nil }
                items.append(item)
            } while self.take(UInt8(ascii: ","))
            return self.take(UInt8(ascii: "]")) ? .array(items) : nil
        }

        private mutating func number() -> JSON? {
            let start = self.position
            while let byte = self.current, "+-.eE0123456789".utf8.contains(byte) { self.position += 1 }
            let text = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
            let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
            guard let first = digits.utf8.first, (0x30...0x39).contains(first),
                digits == "0" || !digits.hasPrefix("0") || digits.hasPrefix("0.")
            else {
                return nil
            }
            if let whole = Int64(text) { return .integer(whole) }
            return Double(text).map { .decimal($0) }
        }

        private mutating func string() -> String? {
            self.position += 1
            var units: [UInt8] = []
            while let byte = self.current {
                self.position += 1
                switch byte {
                case UInt8(ascii: "\""): return String(validating: units, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard self.escape(&units) else { return nil }
                case 0..<0x20: return nil
                default: units.append(byte)
                }
            }
            return nil
        }

        private mutating func escape(_ units: inout [UInt8]) -> Bool {
            guard let byte = self.current else { return false }
            self.position += 1
            switch byte {
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "t"): units.append(0x09)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(byte)
            case UInt8(ascii: "u"): return self.unicode(&units)
            default: return false
            }
            return true
        }

        private mutating func unicode(_ units: inout [UInt8]) -> Bool {
            guard var code = self.fourHexDigits() else { return false }
            if (0xD800..<0xDC00).contains(code) {
                guard self.bytes[self.position...].starts(with: "\\u".utf8) else { return false }
                self.position += 2
                guard let low = self.fourHexDigits(), (0xDC00..<0xE000).contains(low) else { return false }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { return false }
            units.append(contentsOf: Character(scalar).utf8)
            return true
        }

        private mutating func fourHexDigits() -> UInt32? {
            guard self.position + 4 <= self.bytes.count else { return nil }
            let digits = self.bytes[self.position..<self.position + 4]
            guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
            self.position += 4
            return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        }
    }
}
