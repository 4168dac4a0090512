/// PNG (third edition): chunks, each with a checksum.
struct PNGCleaner {
    static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

    private let limits: ImageLimits
    private var reader: ByteReader
    /// The chunks before the pixels, and those from there on: the orientation comes between them.
    private var head = Self.signature
    private var rest: [UInt8] = []
    private var orientation: Int?
    private var hasEXIF = false
    private var size: (width: Int, height: Int)?
    private var rows: PNGRows?
    private var needsPalette = false
    private var hasPalette = false
    private var hasProfile = false
    private var data = DataState.before
    /// The pixels as they are packed, from all their chunks.
    private var packed: [UInt8] = []

    /// Where among the chunks the pixels are: they are one run of chunks.
    private enum DataState {
        case before
        case within
        case after
    }

    /// What changes how the picture looks.
    private static let kept: Set<String> = ["tRNS", "gAMA", "cHRM", "sRGB", "sBIT", "cICP"]
    private static let animation: Set<String> = ["acTL", "fcTL", "fdAT"]
    /// The bits per sample that each type of colour may have.
    private static let depths: [UInt8: Set<UInt8>] = [
        0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
    ]

    /// The samples of a pixel in each type of colour.
    private static let samples: [UInt8: Int] = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
    /// What a colour profile may unpack to: the largest of cameras and screens have about 1 MiB.
    private static let maximumProfile = 4 * 1024 * 1024

    static func clean(_ bytes: [UInt8], within limits: ImageLimits) throws(ImageProblem) -> ImageParts {
        var cleaner = PNGCleaner(reader: ByteReader(bytes), limits: limits)
        return try cleaner.run()
    }

    private init(reader: ByteReader, limits: ImageLimits) {
        self.reader = reader
        self.limits = limits
    }

    private mutating func run() throws(ImageProblem) -> ImageParts {
        _ = try self.reader.take(Self.signature.count)
        while true {
            let length = try self.reader.number(bytes: 4)
            let named = try self.reader.take(4 + min(length, Int(Int32.max)))
            guard try self.reader.number(bytes: 4) == Int(CRC32.of(named)) else { throw .malformed }
            let type = String(decoding: named.prefix(4), as: UTF8.self)
            try self.keep(type, named)
            if type == "IEND" { break }
        }
        guard let size, self.data != .before, self.hasPalette || !self.needsPalette else { throw .malformed }
        try self.checkRows()
        if let orientation = self.orientation {
            Self.append(Array("eXIf".utf8) + Orientation.chunk(orientation), to: &self.head)
        }
        return ImageParts(width: size.width, height: size.height, bytes: self.head + self.rest)
    }

    private mutating func keep(_ type: String, _ named: ArraySlice<UInt8>) throws(ImageProblem) {
        guard (self.size == nil) == (type == "IHDR") else { throw .malformed }
        if type != "IDAT", self.data == .within { self.data = .after }
        switch type {
        case "IHDR": try self.readHeader(named.dropFirst(4))
        case "PLTE":
            guard self.data == .before, !self.hasPalette, named.count > 4, (named.count - 4) % 3 == 0,
                named.count <= 4 + 3 * 256
            else { throw .malformed }
            self.hasPalette = true
        case "IDAT":
            guard self.data != .after else { throw .malformed }
            self.data = .within
            self.packed += named.dropFirst(4)
        case "iCCP": try self.checkProfile(named.dropFirst(4))
        case "IEND":
            guard named.count == 4 else { throw .malformed }
        case "eXIf":
            self.readEXIF(named.dropFirst(4))
            return
        case _ where Self.animation.contains(type): throw .animated
        case _ where Self.kept.contains(type): break
        // A capital letter at the beginning: without this chunk the picture cannot be shown.
        case _ where named.first.map { $0 & 0x20 == 0 } ?? true: throw .malformed
        default: return
        }
        if self.data == .before {
            Self.append(named, to: &self.head)
        } else {
            Self.append(named, to: &self.rest)
        }
    }

    /// A picture has one EXIF; of more, the first one counts.
    private mutating func readEXIF(_ data: ArraySlice<UInt8>) {
        if !self.hasEXIF { self.orientation = Orientation.read(chunk: data) }
        self.hasEXIF = true
    }

    private static func append(_ named: some Collection<UInt8>, to file: inout [UInt8]) {
        file.append(number: named.count - 4, bytes: 4)
        file += named
        file.append(number: Int(CRC32.of(named)), bytes: 4)
    }

    private mutating func readHeader(_ data: ArraySlice<UInt8>) throws(ImageProblem) {
        var header = ByteReader(data)
        let (width, height) = (try header.number(bytes: 4), try header.number(bytes: 4))
        let (depth, colour) = (try header.byte(), try header.byte())
        let (compression, filter, interlacing) = (try header.byte(), try header.byte(), try header.byte())
        guard header.left == 0, width > 0, height > 0, max(width, height) <= Int32.max,
            Self.depths[colour]?.contains(depth) == true, compression == 0, filter == 0, interlacing <= 1
        else { throw .malformed }
        try self.limits.check(width: width, height: height)
        let rows = PNGRows(
            width: width,
            height: height,
            bitsPerPixel: Int(depth) * (Self.samples[colour] ?? 4),
            isInterlaced: interlacing == 1
        )
        guard rows.bytes <= self.limits.unpacked else { throw .tooManyPixels }
        self.rows = rows
        self.size = (width, height)
        self.needsPalette = colour == 3
    }

    /// A profile has a name of 1 to 79 bytes, and is packed by the one method that there is.
    private mutating func checkProfile(_ data: ArraySlice<UInt8>) throws(ImageProblem) {
        guard self.data == .before, !self.hasProfile, let end = data.firstIndex(of: 0),
            (1...79).contains(end - data.startIndex)
        else { throw .malformed }
        var profile = ByteReader(data[(end + 1)...])
        guard try profile.byte() == 0 else { throw .malformed }
        try PackedData(try profile.take(profile.left)).unpack(atMost: Self.maximumProfile)
        self.hasProfile = true
    }

    /// The pixels are all there, and nothing is packed with them.
    private func checkRows() throws(ImageProblem) {
        guard var rows = self.rows else { throw .malformed }
        try PackedData(self.packed[...]).unpack(atMost: rows.bytes) { piece throws(ImageProblem) in
            try rows.read(piece)
        }
        guard rows.areWhole else { throw .malformed }
    }
}

/// The checksum of PNG's chunks.
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { Self.table[Int(($0 ^ UInt32($1)) & 0xff)] ^ ($0 >> 8) }
    }
}
