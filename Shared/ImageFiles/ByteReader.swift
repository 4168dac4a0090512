/// Reads a file from its beginning; whatever is beyond its end is malformed.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    /// How many bytes are left.
    var left: Int { self.bytes.endIndex - self.position }

    /// The next bytes.
    mutating func take(_ count: Int) throws(ImageProblem) -> ArraySlice<UInt8> {
        guard count >= 0, count <= self.left else { throw .malformed }
        defer { self.position += count }
        return self.bytes[self.position..<(self.position + count)]
    }

    /// The next byte.
    mutating func byte() throws(ImageProblem) -> UInt8 {
        guard self.position < self.bytes.endIndex else { throw .malformed }
        defer { self.position += 1 }
        return self.bytes[self.position]
    }

    /// The next bytes as a number, most significant first.
    mutating func number(bytes count: Int) throws(ImageProblem) -> Int {
        try self.take(count).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The next bytes as a number, least significant first.
    mutating func littleNumber(bytes count: Int) throws(ImageProblem) -> Int {
        try self.take(count).reversed().reduce(0) { $0 << 8 | Int($1) }
    }
}

extension [UInt8] {
    /// Adds a number, most significant byte first.
    mutating func append(number: Int, bytes count: Int) {
        for shift in (0..<count).reversed() { self.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    /// Adds a number, least significant byte first.
    mutating func append(littleNumber number: Int, bytes count: Int) {
        for shift in 0..<count { self.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }
}
