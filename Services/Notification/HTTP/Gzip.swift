/// Reads bodies that were packed on the way (RFC 1952).
enum Gzip {
    /// Whether bytes begin like a gzip file; JSON never does.
    static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1f, 0x8b]) }

    /// The unpacked bytes; nil for bytes that are no gzip file of one member, or beyond `limit`.
    ///
    /// The checksum is left alone: a signature covers more.
    static func unpack(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
        guard let start = Self.contentStart(bytes) else { return nil }
        var inflater = Inflater(bytes, from: start, limit: limit)
        guard let content = try? inflater.run(), bytes.count - inflater.position == 8 else { return nil }
        var size = 0
        for byte in bytes.suffix(4).reversed() { size = size << 8 | Int(byte) }
        return size == content.count ? content : nil
    }

    private static func contentStart(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 18, Self.isGzip(bytes), bytes[2] == 8 else { return nil }
        let flags = bytes[3]
        var position = 10
        if flags & 4 != 0 {
            guard position + 2 <= bytes.count else { return nil }
            position += 2 + Int(bytes[position]) + Int(bytes[position + 1]) << 8
        }
        // A file's name and a comment, each ended by a zero.
        for flag in [UInt8(8), 16] where flags & flag != 0 {
            guard position < bytes.count, let end = bytes[position...].firstIndex(of: 0) else { return nil }
            position = end + 1
        }
        if flags & 2 != 0 { position += 2 }
        return position + 8 <= bytes.count ? position : nil
    }
}
