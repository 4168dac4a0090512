/// Unpacks DEFLATE (RFC 1951): small, checked and bounded, because it reads what strangers send.
struct Inflater {
    /// Bytes that are not DEFLATE, or too many of them.
    struct Failure: Error {}

    /// The first byte that is not read yet.
    private(set) var position: Int
    private let input: [UInt8]
    private let limit: Int
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []

    /// The most blocks.
    ///
    /// Each may cost much and say nothing; what packs a body of our size makes a few dozen.
    static let mostBlocks = 256

    init(_ input: [UInt8], from position: Int, limit: Int) {
        self.input = input
        self.position = position
        self.limit = limit
    }

    /// Unpacks everything.
    mutating func run() throws(Failure) -> [UInt8] {
        var isLast = false
        var blocks = 0
        while !isLast {
            blocks += 1
            guard blocks <= Self.mostBlocks else { throw Failure() }
            isLast = try self.take(1) == 1
            switch try self.take(2) {
            case 0: try self.stored()
            case 1: try self.packed(HuffmanCode.fixedLengths, HuffmanCode.fixedDistances)
            case 2:
                let (lengths, distances) = try self.codes()
                try self.packed(lengths, distances)
            default: throw Failure()
            }
        }
        return self.output
    }

    /// The next bits, the first in the lowest place.
    private mutating func take(_ count: Int) throws(Failure) -> Int {
        while self.bitCount < count {
            guard self.position < self.input.count else { throw Failure() }
            self.bits |= UInt32(self.input[self.position]) << UInt32(self.bitCount)
            self.position += 1
            self.bitCount += 8
        }
        let value = self.bits & ((1 << UInt32(count)) - 1)
        self.bits >>= UInt32(count)
        self.bitCount -= count
        return Int(value)
    }

    private mutating func append(_ byte: UInt8) throws(Failure) {
        guard self.output.count < self.limit else { throw Failure() }
        self.output.append(byte)
    }

    private mutating func stored() throws(Failure) {
        // At most seven bits are left of a byte that was begun: they mean nothing here.
        self.bits = 0
        self.bitCount = 0
        let length = try self.take(16)
        guard try self.take(16) == ~length & 0xffff, self.position + length <= self.input.count,
            self.output.count + length <= self.limit
        else { throw Failure() }
        self.output += self.input[self.position..<self.position + length]
        self.position += length
    }

    private mutating func packed(_ lengths: HuffmanCode, _ distances: HuffmanCode) throws(Failure) {
        while true {
            let symbol = try self.symbol(lengths)
            if symbol == 256 { return }
            if symbol < 256 {
                try self.append(UInt8(symbol))
                continue
            }
            guard symbol <= 285 else { throw Failure() }
            let length = HuffmanCode.lengthBase[symbol - 257] + (try self.take(HuffmanCode.lengthExtra[symbol - 257]))
            let slot = try self.symbol(distances)
            guard slot < 30 else { throw Failure() }
            let distance = HuffmanCode.distanceBase[slot] + (try self.take(HuffmanCode.distanceExtra[slot]))
            guard distance <= self.output.count else { throw Failure() }
            for _ in 0..<length { try self.append(self.output[self.output.count - distance]) }
        }
    }

    private mutating func symbol(_ code: HuffmanCode) throws(Failure) -> Int {
        var value = 0
        var first = 0
        var index = 0
        for length in 1...HuffmanCode.maximumLength {
            value |= try self.take(1)
            let count = code.counts[length]
            if value - count < first { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw Failure()
    }

    private mutating func codes() throws(Failure) -> (HuffmanCode, HuffmanCode) {
        let lengthCount = try self.take(5) + 257
        let distanceCount = try self.take(5) + 1
        let codeCount = try self.take(4) + 4
        guard lengthCount <= 286, distanceCount <= 30 else { throw Failure() }
        var widths = [Int](repeating: 0, count: 19)
        for place in HuffmanCode.order.prefix(codeCount) { widths[place] = try self.take(3) }
        let code = try HuffmanCode(widths)
        var all: [Int] = []
        while all.count < lengthCount + distanceCount {
            let symbol = try self.symbol(code)
            switch symbol {
            case 0...15: all.append(symbol)
            case 16:
                guard let last = all.last else { throw Failure() }
                all += [Int](repeating: last, count: try self.take(2) + 3)
            case 17: all += [Int](repeating: 0, count: try self.take(3) + 3)
            default: all += [Int](repeating: 0, count: try self.take(7) + 11)
            }
        }
        guard all.count == lengthCount + distanceCount else { throw Failure() }
        return (try HuffmanCode(Array(all.prefix(lengthCount))), try HuffmanCode(Array(all.dropFirst(lengthCount))))
    }
}

/// A canonical Huffman code.
struct HuffmanCode {
    static let maximumLength = 15

    /// How many symbols have a code of each length.
    let counts: [Int]
    /// The symbols in the order of their codes.
    let symbols: [Int]

    /// Makes the code of symbols whose codes have these lengths, 0 for none.
    ///
    /// - Throws: When there are more codes than fit.
    init(_ lengths: [Int]) throws(Inflater.Failure) {
        var counts = [Int](repeating: 0, count: Self.maximumLength + 1)
        for length in lengths { counts[length] += 1 }
        counts[0] = 0
        var room = 1
        for length in 1...Self.maximumLength {
            room = room << 1 - counts[length]
            guard room >= 0 else { throw Inflater.Failure() }
        }
        self.init(counts: counts, lengths: lengths)
    }

    private init(counts: [Int], lengths: [Int]) {
        self.counts = counts
        self.symbols = lengths.indices.filter { lengths[$0] > 0 }.sorted { (lengths[$0], $0) < (lengths[$1], $1) }
    }

    private init(fixed lengths: [Int]) {
        var counts = [Int](repeating: 0, count: Self.maximumLength + 1)
        for length in lengths { counts[length] += 1 }
        self.init(counts: counts, lengths: lengths)
    }

    static let fixedLengths = HuffmanCode(
        fixed: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
    )
    static let fixedDistances = HuffmanCode(fixed: [Int](repeating: 5, count: 30))
    /// The order in which the lengths of the code of lengths stand.
    static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    static let lengthBase = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    static let lengthExtra = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
    static let distanceBase = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
        6145, 8193, 12_289, 16_385, 24_577,
    ]
    static let distanceExtra = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
}
