/// How a photograph was held: the one thing in EXIF that a picture needs.
enum Orientation {
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

    /// What EXIF begins with in a JPEG, and what some also put before it in a WebP.
    private static let name = Array("Exif".utf8) + [0, 0]

    /// The orientation in a chunk, which may begin as a segment of a JPEG does.
    static func read(chunk: ArraySlice<UInt8>) -> Int? {
        Self.read(chunk.starts(with: Self.name) ? chunk.dropFirst(Self.name.count) : chunk)
    }

    /// EXIF that holds an orientation and nothing else.
    static func chunk(_ orientation: Int) -> [UInt8] {
        let header: [UInt8] = [0x4d, 0x4d, 0, 0x2a, 0, 0, 0, 8, 0, 1]
        return header + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, UInt8(clamping: orientation), 0, 0, 0, 0, 0, 0]
    }

    /// The same as a segment of a JPEG.
    static func segment(_ orientation: Int) -> [UInt8] {
        [0xff, 0xe1, 0, 34] + Self.name + Self.chunk(orientation)
    }
}
