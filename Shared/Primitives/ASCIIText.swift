/// Builds short texts of digits in one buffer.
struct ASCIIText {
    private var units: [UInt8]

    init() {
        self.units = []
        self.units.reserveCapacity(24)
    }

    var string: String { String(decoding: self.units, as: UTF8.self) }

    mutating func append(_ character: Unicode.Scalar) { self.units.append(UInt8(ascii: character)) }

    mutating func append(_ value: Int, digits: Int) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            self.units.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    mutating func append(_ date: CivilDate) {
        self.append(date.year, digits: 4)
        self.append("-")
        self.append(date.month, digits: 2)
        self.append("-")
        self.append(date.day, digits: 2)
    }
}

/// Reads digits and marks from the front of a text.
struct DigitScanner {
    private var units: ArraySlice<UInt8>

    init(_ text: some StringProtocol) { self.units = ArraySlice(text.utf8) }

    var isAtEnd: Bool { self.units.isEmpty }

    /// Takes exactly so many digits, or nothing.
    mutating func number(digits: Int) -> Int? {
        guard self.units.count >= digits else { return nil }
        var value = 0
        for unit in self.units.prefix(digits) {
            guard unit >= UInt8(ascii: "0"), unit <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + Int(unit - UInt8(ascii: "0"))
        }
        self.units.removeFirst(digits)
        return value
    }

    /// Takes the character if it comes next.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard self.units.first == UInt8(ascii: character) else { return false }
        self.units.removeFirst()
        return true
    }
}

extension Int64 {
    func flooringQuotient(_ divisor: Int64) -> Int64 {
        let (quotient, remainder) = self.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
