import CQRencode

extension QRSymbol {
    /// A PNG file of one bit per pixel.
    ///
    /// - Parameter scale: Pixels per module, 1 to 32.
    /// - Returns: The file.
    /// - Throws: `QRCodeError.notEncoded`.
    public func png(scale: Int = 8) throws(QRCodeError) -> [UInt8] {
        precondition((1...32).contains(scale), "a module of a QR code has 1 to 32 pixels")
        let pixels = (self.side + 2 * Self.quietZone) * scale
        var file: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        // One bit of grey, deflated, no interlacing.
        Self.append("IHDR", Self.number(pixels) + Self.number(pixels) + [1, 0, 0, 0, 0], to: &file)
        Self.append("IDAT", try Self.deflated(self.rows(pixels, scale)), to: &file)
        Self.append("IEND", [], to: &file)
        return file
    }

    /// Each row: the filter "none", then its pixels; a set bit is white.
    private func rows(_ pixels: Int, _ scale: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(pixels * (pixels / 8 + 2))
        for row in -Self.quietZone..<(self.side + Self.quietZone) {
            var line = [UInt8](repeating: 0xff, count: (pixels + 7) / 8)
            for column in 0..<self.side where self.isDark(row: row, column: column) {
                let start = (column + Self.quietZone) * scale
                for pixel in start..<(start + scale) { line[pixel / 8] &= ~(0x80 >> UInt8(pixel % 8)) }
            }
            for _ in 0..<scale { bytes += [0] + line }
        }
        return bytes
    }

    private static func deflated(_ bytes: [UInt8]) throws(QRCodeError) -> [UInt8] {
        var length = compressBound(uLong(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(length))
        let status = compress2(&packed, &length, bytes, uLong(bytes.count), Z_BEST_COMPRESSION)
        guard status == Z_OK else { throw .notEncoded }
        return Array(packed.prefix(Int(length)))
    }

    private static func append(_ type: String, _ data: [UInt8], to file: inout [UInt8]) {
        let named = Array(type.utf8) + data
        file += Self.number(data.count) + named + Self.number(Int(crc32(0, named, uInt(named.count))))
    }

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
}
