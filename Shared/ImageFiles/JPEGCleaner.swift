/// JPEG (ITU-T T.81): segments, each begun by a marker, and scans of compressed data between them.
struct JPEGCleaner {
    private var reader: ByteReader
    /// What stands before all else: the kind of file, then the orientation.
    private var jfif: [UInt8] = []
    private var orientation: Int?
    private var body: [UInt8] = []
    private var frame: JPEGFrame?
    private var work: JPEGWork

    private enum Marker {
        static let start: UInt8 = 0xd8
        static let end: UInt8 = 0xd9
        static let scan: UInt8 = 0xda
        /// Tables: Huffman codes, quantization, restart interval.
        static let tables: Set<UInt8> = [0xc4, 0xdb, 0xdd]
        /// Frames: baseline, extended, progressive.
        ///
        /// Others are read by next to nobody.
        static let frames: ClosedRange<UInt8> = 0xc0...0xc2
        static let applications: ClosedRange<UInt8> = 0xe0...0xef
        static let comment: UInt8 = 0xfe
        static let restarts: ClosedRange<UInt8> = 0xd0...0xd7
    }

    static func clean(_ bytes: [UInt8], within limits: ImageLimits) throws(ImageProblem) -> ImageParts {
        var cleaner = JPEGCleaner(reader: ByteReader(bytes), limits: limits)
        return try cleaner.run()
    }

    private init(reader: ByteReader, limits: ImageLimits) {
        self.reader = reader
        self.work = JPEGWork(limits: limits)
    }

    private mutating func run() throws(ImageProblem) -> ImageParts {
        guard try self.reader.number(bytes: 2) == 0xffd8 else { throw .malformed }
        var marker = try self.nextMarker()
        while marker != Marker.end {
            let data = try self.segment()
            if marker == Marker.scan {
                marker = try self.keepScan(data)
            } else {
                try self.keep(marker, data)
                marker = try self.nextMarker()
            }
        }
        guard let frame, self.work.scans > 0 else { throw .malformed }
        var file: [UInt8] = [0xff, Marker.start]
        file += self.jfif
        if let orientation { file += Orientation.segment(orientation) }
        file += self.body
        file += [0xff, Marker.end]
        return ImageParts(width: frame.width, height: frame.height, bytes: file)
    }

    /// A marker; any number of fill bytes may come before it.
    private mutating func nextMarker() throws(ImageProblem) -> UInt8 {
        guard try self.reader.byte() == 0xff else { throw .malformed }
        var marker = try self.reader.byte()
        while marker == 0xff { marker = try self.reader.byte() }
        return marker
    }

    private mutating func segment() throws(ImageProblem) -> ArraySlice<UInt8> {
        try self.reader.take(try self.reader.number(bytes: 2) - 2)
    }

    private mutating func keep(_ marker: UInt8, _ data: ArraySlice<UInt8>) throws(ImageProblem) {
        switch marker {
        case Marker.frames:
            guard self.frame == nil else { throw .malformed }
            self.frame = try JPEGFrame(data)
            self.write(marker, data)
        case _ where Marker.tables.contains(marker): self.write(marker, data)
        case Marker.applications: self.keepApplication(marker, data)
        case Marker.comment: break
        default: throw .malformed
        }
    }

    /// Of what applications add only what changes how the picture looks.
    private mutating func keepApplication(_ marker: UInt8, _ data: ArraySlice<UInt8>) {
        switch marker {
        case 0xe0 where data.starts(with: Self.text("JFIF")) && data.count >= 14 && self.jfif.isEmpty:
            // Without the thumbnail: version, units and density, then a thumbnail of no pixels.
            self.jfif = [0xff, marker, 0, 16] + data.prefix(12) + [0, 0]
        case 0xe1 where data.starts(with: Self.text("Exif") + [0]) && self.orientation == nil:
            self.orientation = Orientation.read(data.dropFirst(6))
        case 0xe2 where data.starts(with: Self.text("ICC_PROFILE")): self.write(marker, data)
        case 0xee where data.starts(with: "Adobe".utf8) && data.count == 12: self.write(marker, data)
        default: break
        }
    }

    private static func text(_ name: String) -> [UInt8] { Array(name.utf8) + [0] }

    private mutating func write(_ marker: UInt8, _ data: ArraySlice<UInt8>) {
        self.body += [0xff, marker]
        self.body.append(number: data.count + 2, bytes: 2)
        self.body += data
    }

    /// Copies a scan and what it compresses; gives the marker that ends it.
    private mutating func keepScan(_ header: ArraySlice<UInt8>) throws(ImageProblem) -> UInt8 {
        guard let frame else { throw .malformed }
        try self.work.add(try frame.samples(inScan: header))
        self.write(Marker.scan, header)
        while true {
            let byte = try self.reader.byte()
            guard byte == 0xff else {
                self.body.append(byte)
                continue
            }
            var next = try self.reader.byte()
            while next == 0xff { next = try self.reader.byte() }
            // An escaped 0xff, or a place to begin again: both belong to the data.
            guard next == 0 || Marker.restarts.contains(next) else { return next }
            self.body += [0xff, next]
        }
    }
}
