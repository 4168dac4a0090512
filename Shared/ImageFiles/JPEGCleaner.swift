/// JPEG (ITU-T T.81): segments, each begun by a marker, and scans of compressed data between them.
struct JPEGCleaner {
    private var reader: ByteReader
    /// What stands before all else: the kind of file, then the orientation.
    private var jfif: [UInt8] = []
    private var orientation: Int?
    private var body: [UInt8] = []
    private var size: (width: Int, height: Int)?
    private var hasScan = false

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

    static func clean(_ bytes: [UInt8]) throws(ImageProblem) -> ImageParts {
        var cleaner = JPEGCleaner(reader: ByteReader(bytes))
        return try cleaner.run()
    }

    private init(reader: ByteReader) { self.reader = reader }

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
        guard let size, self.hasScan else { throw .malformed }
        var file: [UInt8] = [0xff, Marker.start]
        file += self.jfif
        if let orientation { file += Orientation.segment(orientation) }
        file += self.body
        file += [0xff, Marker.end]
        return ImageParts(width: size.width, height: size.height, bytes: file)
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
            try self.readFrame(data)
            self.write(marker, data)
        case _ where Marker.tables.contains(marker): self.write(marker, data)
        case Marker.applications: self.keepApplication(marker, data)
        case Marker.comment: break
        default: throw .malformed
        }
    }

    private mutating func readFrame(_ data: ArraySlice<UInt8>) throws(ImageProblem) {
        var frame = ByteReader(data)
        let bits = try frame.byte()
        let (height, width) = (try frame.number(bytes: 2), try frame.number(bytes: 2))
        let components = Int(try frame.byte())
        // A height of 0 would be told only after the first scan.
        guard self.size == nil, bits == 8, width > 0, height > 0, [1, 3, 4].contains(components),
            frame.left == 3 * components
        else { throw .malformed }
        self.size = (width, height)
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
        guard self.size != nil, let components = header.first, (1...4).contains(components),
            header.count == 4 + 2 * Int(components)
        else { throw .malformed }
        self.write(Marker.scan, header)
        self.hasScan = true
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

/// How a photograph was held: the one thing in EXIF that a picture needs.
private enum Orientation {
    private static let tag = 0x0112

    /// The orientation if it is not the usual one; nil also for EXIF that makes no sense.
    static func read(_ tiff: ArraySlice<UInt8>) -> Int? {
        let isLittle = tiff.starts(with: [0x49, 0x49, 0x2a, 0])
        guard isLittle || tiff.starts(with: [0x4d, 0x4d, 0, 0x2a]) else { return nil }
        func number(_ reader: inout ByteReader, _ count: Int) throws(ImageProblem) -> Int {
            isLittle ? try reader.littleNumber(bytes: count) : try reader.number(bytes: count)
        }
        do {
            var header = ByteReader(tiff)
            _ = try header.take(4)
            let place = try number(&header, 4)
            var entries = ByteReader(tiff)
            _ = try entries.take(place)
            for _ in 0..<(try number(&entries, 2)) {
                let (tag, type, count) = (
                    try number(&entries, 2), try number(&entries, 2), try number(&entries, 4)
                )
                let value = try number(&entries, 2)
                _ = try entries.take(2)
                guard tag == Self.tag, type == 3, count == 1 else { continue }
                return (2...8).contains(value) ? value : nil
            }
            return nil
        } catch {
            return nil
        }
    }

    /// EXIF that holds an orientation and nothing else.
    static func segment(_ orientation: Int) -> [UInt8] {
        var bytes: [UInt8] = [0xff, 0xe1, 0, 34]
        bytes += Array("Exif".utf8) + [0, 0, 0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1]
        bytes += [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(clamping: orientation), 0, 0, 0, 0, 0, 0]
        return bytes
    }
}
