/// The rows of a PNG as they are unpacked: each begins with the number of its filter.
struct PNGRows {
    /// The rows of each pass that has any: how many, and how many bytes each has with its filter.
    private let passes: [(rows: Int, bytes: Int)]
    private var pass = 0
    private var row = 0
    /// How many bytes of the row are still to come.
    private var left = 0

    /// Where the passes of an interlaced picture (Adam7) begin, and how far apart their pixels are.
    private static let interlaced: [(x: Int, y: Int, across: Int, down: Int)] = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]
    private static let filters: ClosedRange<UInt8> = 0...4

    init(width: Int, height: Int, bitsPerPixel: Int, isInterlaced: Bool) {
        let steps = isInterlaced ? Self.interlaced : [(0, 0, 1, 1)]
        self.passes = steps.compactMap { step in
            let columns = (width - step.x + step.across - 1) / step.across
            let rows = (height - step.y + step.down - 1) / step.down
            // A pass without pixels has no rows, and so no filters.
            return columns > 0 && rows > 0 ? (rows, 1 + (columns * bitsPerPixel + 7) / 8) : nil
        }
    }

    /// How many bytes all rows have.
    var bytes: Int { self.passes.reduce(0) { $0 + $1.rows * $1.bytes } }

    /// Whether all rows were there.
    var areWhole: Bool { self.pass == self.passes.count && self.left == 0 }

    /// Goes through the next bytes, of which only the filters are looked at.
    mutating func read(_ bytes: ArraySlice<UInt8>) throws(ImageProblem) {
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if self.left == 0 {
                guard self.pass < self.passes.count, Self.filters.contains(bytes[place]) else { throw .malformed }
                self.left = self.passes[self.pass].bytes
                self.row += 1
                if self.row == self.passes[self.pass].rows {
                    self.pass += 1
                    self.row = 0
                }
            }
            let step = min(self.left, bytes.endIndex - place)
            place += step
            self.left -= step
        }
    }
}
