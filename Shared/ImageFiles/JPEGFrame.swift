/// What a JPEG says before its scans: how large it is, and how finely each component is sampled.
struct JPEGFrame {
    let width: Int
    let height: Int
    /// Samples of each component, by the component's name.
    private let samples: [UInt8: Int]

    init(_ data: ArraySlice<UInt8>) throws(ImageProblem) {
        var frame = ByteReader(data)
        let bits = try frame.byte()
        let (height, width) = (try frame.number(bytes: 2), try frame.number(bytes: 2))
        let count = Int(try frame.byte())
        // A height of 0 would be told only after the first scan.
        guard bits == 8, width > 0, height > 0, [1, 3, 4].contains(count), frame.left == 3 * count else {
            throw .malformed
        }
        var factors: [(name: UInt8, across: Int, down: Int)] = []
        for _ in 0..<count {
            let (name, factor) = (try frame.byte(), try frame.byte())
            _ = try frame.byte()
            let (across, down) = (Int(factor >> 4), Int(factor & 0xf))
            guard (1...4).contains(across), (1...4).contains(down), !factors.contains(where: { $0.name == name }) else {
                throw .malformed
            }
            factors.append((name, across, down))
        }
        let across = factors.map(\.across).max() ?? 1
        let down = factors.map(\.down).max() ?? 1
        self.width = width
        self.height = height
        self.samples = Dictionary(
            uniqueKeysWithValues: factors.map {
                ($0.name, Self.share(width, $0.across, of: across) * Self.share(height, $0.down, of: down))
            }
        )
    }

    /// A component's side; what is over counts as one more.
    private static func share(_ side: Int, _ factor: Int, of largest: Int) -> Int {
        (side * factor + largest - 1) / largest
    }

    /// How many samples a scan goes through: those of the components that it names.
    func samples(inScan header: ArraySlice<UInt8>) throws(ImageProblem) -> Int {
        var scan = ByteReader(header)
        let count = Int(try scan.byte())
        guard (1...4).contains(count), scan.left == 3 + 2 * count else { throw .malformed }
        var sum = 0
        for _ in 0..<count {
            guard let samples = self.samples[try scan.byte()] else { throw .malformed }
            _ = try scan.byte()
            sum += samples
        }
        return sum
    }
}

/// What the scans of a JPEG cost a decoder, within bounds.
struct JPEGWork {
    private let limits: ImageLimits
    private(set) var scans = 0
    private var samples = 0

    init(limits: ImageLimits) { self.limits = limits }

    /// Counts one more scan.
    mutating func add(_ samples: Int) throws(ImageProblem) {
        self.scans += 1
        self.samples += samples
        guard self.scans <= self.limits.scans, self.samples <= self.limits.samples else { throw .tooManyPixels }
    }
}
