/// Writes small JSON texts without reflection: error bodies, health answers, log lines.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(capacity: Int = 256) {
        self.bytes.reserveCapacity(capacity)
    }

    mutating func object(_ body: (inout JSONText) -> Void) {
        self.separate()
        self.bytes.append(UInt8(ascii: "{"))
        self.needsComma = false
        body(&self)
        self.bytes.append(UInt8(ascii: "}"))
        self.needsComma = true
    }

    mutating func array(_ body: (inout JSONText) -> Void) {
        self.separate()
        self.bytes.append(UInt8(ascii: "["))
        self.needsComma = false
        body(&self)
        self.bytes.append(UInt8(ascii: "]"))
        self.needsComma = true
    }

    mutating func key(_ name: String) {
        self.string(name)
        self.bytes.append(UInt8(ascii: ":"))
        self.needsComma = false
    }

    mutating func member(_ name: String, _ value: String) {
        self.key(name)
        self.string(value)
    }

    mutating func member(_ name: String, _ value: Int64) {
        self.key(name)
        self.raw(String(value))
    }

    mutating func member(_ name: String, _ value: Bool) {
        self.key(name)
        self.raw(value ? "true" : "false")
    }

    /// Text that is JSON already.
    mutating func raw(_ text: String) {
        self.separate()
        self.bytes.append(contentsOf: text.utf8)
    }

    mutating func string(_ text: String) {
        self.separate()
        self.bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                self.bytes.append(UInt8(ascii: "\\"))
                self.bytes.append(byte)
            case 0x0a: self.bytes.append(contentsOf: "\\n".utf8)
            case 0x00..<0x20, 0x7f: self.escape(byte)
            default: self.bytes.append(byte)
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        self.bytes.append(contentsOf: "\\u00".utf8)
        for nibble in [byte >> 4, byte & 0xf] {
            self.bytes.append(nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10)
        }
    }

    private mutating func separate() {
        if self.needsComma {
            self.bytes.append(UInt8(ascii: ","))
        }
        self.needsComma = true
    }
}
