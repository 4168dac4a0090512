/// The binary form of `numeric`: groups of four decimal digits.
///
/// `sum(bigint)` has this type.
struct PostgresNumeric {
    private let groups: [UInt16]
    /// The power of 10,000 of the first group.
    private let weight: Int
    private let sign: UInt16
    private let scale: Int

    init(_ cell: PostgresCell) throws(PostgresError) {
        let bytes = try cell.bytes()
        guard bytes.count >= 8, bytes.count % 2 == 0 else { throw cell.mismatch(Self.self) }
        let words = stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        guard words.count == 4 + Int(words[0]) else { throw cell.mismatch(Self.self) }
        self.groups = Array(words[4...])
        self.weight = Int(Int16(bitPattern: words[1]))
        self.sign = words[2]
        self.scale = Int(words[3])
    }

    private var isNegative: Bool { self.sign == 0x4000 }
    private var isFinite: Bool { self.sign == 0 || self.isNegative }

    /// The value when it has no fraction and fits.
    func integer(_ cell: PostgresCell) throws(PostgresError) -> Int64 {
        // Counted downwards, because Int64.min has no positive counterpart.
        var value: Int64 = 0
        guard self.isFinite else { throw cell.failure("is not a number") }
        guard self.groups.count <= max(0, self.weight + 1) else { throw cell.failure("has a fraction") }
        for index in 0..<max(0, self.weight + 1) {
            let group = index < self.groups.count ? Int64(self.groups[index]) : 0
            let (product, isTooWide) = value.multipliedReportingOverflow(by: 10_000)
            let (difference, isTooLow) = product.subtractingReportingOverflow(group)
            guard !isTooWide, !isTooLow else { throw cell.failure("does not fit Int64") }
            value = difference
        }
        if self.isNegative { return value }
        guard value != .min else { throw cell.failure("does not fit Int64") }
        return -value
    }

    /// The value as the server writes it.
    var text: String {
        guard self.isFinite else {
            return self.sign == 0xC000 ? "NaN" : self.sign == 0xF000 ? "-Infinity" : "Infinity"
        }
        var whole = (0..<max(0, self.weight + 1)).map { self.digits(of: $0) }.joined()
        whole = String(whole.drop { $0 == "0" })
        if whole.isEmpty { whole = "0" }
        let first = self.weight + 1
        let fraction = (first..<first + (self.scale + 3) / 4).map { self.digits(of: $0) }.joined().prefix(self.scale)
        return (self.isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
    }

    private func digits(of index: Int) -> String {
        guard self.groups.indices.contains(index) else { return "0000" }
        let text = String(self.groups[index])
        return String(repeating: "0", count: 4 - text.count) + text
    }
}
