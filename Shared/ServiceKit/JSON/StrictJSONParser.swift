/// A recursive-descent reader of RFC 8259, nothing more and nothing less, with a bound on depth.
struct StrictJSONParser {
    static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0
    /// Names and indices; nil for a name that none of our members has, which is not repeated to anybody.
    private var path: [String?] = []

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func parse(_ bytes: [UInt8]) throws(StrictJSONError) -> StrictJSON {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw StrictJSONError(reason: .notUTF8, pointer: "")
        }
        var parser = StrictJSONParser(bytes)
        parser.skipSpace()
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.failure() }
        return value
    }

    private func failure(_ reason: StrictJSONError.Reason = .malformed) -> StrictJSONError {
        StrictJSONError(reason: reason, pointer: JSONPointer.text(self.path.prefix { $0 != nil }.compactMap(\.self)))
    }

    private var current: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private mutating func skipSpace() {
        while let byte = self.current, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            self.position += 1
        }
    }

    private mutating func expect(_ byte: UInt8) throws(StrictJSONError) {
        guard self.current == byte else { throw self.failure() }
        self.position += 1
    }

    private mutating func value() throws(StrictJSONError) -> StrictJSON {
        guard let byte = self.current else { throw self.failure() }
        switch byte {
        case UInt8(ascii: "{"): return try self.object()
        case UInt8(ascii: "["): return try self.array()
        case UInt8(ascii: "\""): return .string(try self.string())
        case UInt8(ascii: "t"): return try self.literal("true", .bool(true))
        case UInt8(ascii: "f"): return try self.literal("false", .bool(false))
        case UInt8(ascii: "n"): return try self.literal("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try self.number()
        default: throw self.failure()
        }
    }

    private mutating func literal(_ text: StaticString, _ value: StrictJSON) throws(StrictJSONError) -> StrictJSON {
        for byte in text.description.utf8 {
            try self.expect(byte)
        }
        return value
    }

    private mutating func enter(_ name: String?) throws(StrictJSONError) {
        guard self.path.count < Self.maximumDepth else { throw self.failure(.tooDeep) }
        self.path.append(name)
    }

    private static let longestName = 40

    /// Whether a name looks like those of our members: what somebody has typed into the wrong place does not.
    static func couldBeOurs(_ name: String) -> Bool {
        let isWord = name.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                || $0 == UInt8(ascii: "_")
        }
        return isWord && name.utf8.count <= Self.longestName && name.first?.isLetter == true
    }

    private mutating func object() throws(StrictJSONError) -> StrictJSON {
        var members: [String: StrictJSON] = [:]
        self.position += 1
        self.skipSpace()
        if self.current == UInt8(ascii: "}") {
            self.position += 1
            return .object(members)
        }
        while true {
            guard self.current == UInt8(ascii: "\"") else { throw self.failure() }
            let name = try self.string()
            try self.enter(Self.couldBeOurs(name) ? name : nil)
            self.skipSpace()
            try self.expect(UInt8(ascii: ":"))
            self.skipSpace()
            // Which of two values counts would depend on the reader: refuse instead.
            guard members.updateValue(try self.value(), forKey: name) == nil else { throw self.failure(.duplicateName) }
            self.path.removeLast()
            guard try self.continues(until: UInt8(ascii: "}")) else { return .object(members) }
        }
    }

    private mutating func array() throws(StrictJSONError) -> StrictJSON {
        var elements: [StrictJSON] = []
        self.position += 1
        self.skipSpace()
        if self.current == UInt8(ascii: "]") {
            self.position += 1
            return .array(elements)
        }
        while true {
            try self.enter(String(elements.count))
            elements.append(try self.value())
            self.path.removeLast()
            guard try self.continues(until: UInt8(ascii: "]")) else { return .array(elements) }
        }
    }

    /// After a member: true if a comma follows, false at the end.
    private mutating func continues(until end: UInt8) throws(StrictJSONError) -> Bool {
        self.skipSpace()
        if self.current == end {
            self.position += 1
            return false
        }
        try self.expect(UInt8(ascii: ","))
        self.skipSpace()
        return true
    }

    private mutating func number() throws(StrictJSONError) -> StrictJSON {
        let start = self.position
        if self.current == UInt8(ascii: "-") {
            self.position += 1
        }
        let leading = self.current
        guard self.skipDigits() > 0 else { throw self.failure() }
        let wholeStart = self.bytes[start] == UInt8(ascii: "-") ? start + 1 : start
        guard leading != UInt8(ascii: "0") || self.position == wholeStart + 1 else { throw self.failure() }
        var isInteger = true
        if self.current == UInt8(ascii: ".") {
            isInteger = false
            self.position += 1
            guard self.skipDigits() > 0 else { throw self.failure() }
        }
        if self.current == UInt8(ascii: "e") || self.current == UInt8(ascii: "E") {
            isInteger = false
            self.position += 1
            if self.current == UInt8(ascii: "+") || self.current == UInt8(ascii: "-") {
                self.position += 1
            }
            guard self.skipDigits() > 0 else { throw self.failure() }
        }
        let text = String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        return .number(text: text, integer: isInteger ? Int64(text) : nil)
    }

    private mutating func skipDigits() -> Int {
        let start = self.position
        while let byte = self.current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            self.position += 1
        }
        return self.position - start
    }

    private mutating func string() throws(StrictJSONError) -> String {
        self.position += 1
        let start = self.position
        while let byte = self.current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
            self.position += 1
        }
        if self.current == UInt8(ascii: "\"") {
            defer { self.position += 1 }
            return String(decoding: self.bytes[start..<self.position], as: UTF8.self)
        }
        return try self.escapedString(from: start)
    }

    private mutating func escapedString(from start: Int) throws(StrictJSONError) -> String {
        var text = Array(self.bytes[start..<self.position])
        while let byte = self.current, byte >= 0x20 {
            self.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text.append(contentsOf: String(try self.escape()).utf8)
            default: text.append(byte)
            }
        }
        throw self.failure()
    }

    private mutating func escape() throws(StrictJSONError) -> Unicode.Scalar {
        guard let byte = self.current else { throw self.failure() }
        self.position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try self.unicodeEscape()
        default: throw self.failure()
        }
    }

    private mutating func unicodeEscape() throws(StrictJSONError) -> Unicode.Scalar {
        let high = try self.hexadecimal()
        // No text can hold it once it is in the database; and a name with it would pass for the name without.
        guard high != 0 else { throw self.failure(.nullCharacter) }
        if let scalar = Unicode.Scalar(high) {
            return scalar
        }
        // A high surrogate is only half a character; a lone one has no meaning in UTF-8.
        guard (0xd800..<0xdc00).contains(high) else { throw self.failure() }
        try self.expect(UInt8(ascii: "\\"))
        try self.expect(UInt8(ascii: "u"))
        let low = try self.hexadecimal()
        guard (0xdc00..<0xe000).contains(low) else { throw self.failure() }
        let combined = 0x10000 + (high - 0xd800) << 10 + (low - 0xdc00)
        guard let scalar = Unicode.Scalar(combined) else { throw self.failure() }
        return scalar
    }

    private mutating func hexadecimal() throws(StrictJSONError) -> UInt32 {
        let end = self.position + 4
        guard end <= self.bytes.count else { throw self.failure() }
        var value: UInt32 = 0
        for digit in self.bytes[self.position..<end] {
            guard let nibble = Character(Unicode.Scalar(digit)).hexDigitValue else { throw self.failure() }
            value = value << 4 | UInt32(nibble)
        }
        self.position = end
        return value
    }
}
