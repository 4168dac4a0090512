/// WebP: a RIFF file of chunks.
struct WebPCleaner {
    private var extended: (flags: UInt8, width: Int, height: Int)?
    private var profile: ArraySlice<UInt8>?
    private var alpha: ArraySlice<UInt8>?
    private var picture: (type: String, data: ArraySlice<UInt8>)?

    private var exif: ArraySlice<UInt8>?

    private enum Flag {
        static let profile: UInt8 = 0x20
        static let alpha: UInt8 = 0x10
        static let exif: UInt8 = 0x08
        static let animation: UInt8 = 0x02
    }

    static func clean(_ bytes: [UInt8]) throws(ImageProblem) -> ImageParts {
        var whole = ByteReader(bytes)
        _ = try whole.take(4)
        let length = try whole.littleNumber(bytes: 4)
        var chunks = ByteReader(try whole.take(length))
        _ = try chunks.take(4)
        var cleaner = WebPCleaner()
        while chunks.left > 0 {
            let type = String(decoding: try chunks.take(4), as: UTF8.self)
            let length = try chunks.littleNumber(bytes: 4)
            let data = try chunks.take(length)
            // Chunks begin at even places.
            if length % 2 == 1 { _ = try chunks.byte() }
            try cleaner.keep(type, data)
        }
        return try cleaner.parts()
    }

    private mutating func keep(_ type: String, _ data: ArraySlice<UInt8>) throws(ImageProblem) {
        switch type {
        case "VP8X":
            guard self.extended == nil, self.picture == nil else { throw .malformed }
            var header = ByteReader(data)
            let flags = try header.byte()
            _ = try header.take(3)
            let (width, height) = (try header.littleNumber(bytes: 3), try header.littleNumber(bytes: 3))
            guard header.left == 0 else { throw .malformed }
            guard flags & Flag.animation == 0 else { throw .animated }
            self.extended = (flags, width + 1, height + 1)
        case "ANIM", "ANMF": throw .animated
        case "ICCP":
            guard self.extended != nil, self.profile == nil, self.picture == nil else { throw .malformed }
            self.profile = data
        case "ALPH":
            guard self.extended != nil, self.alpha == nil, self.picture == nil else { throw .malformed }
            self.alpha = data
        case "VP8 ", "VP8L":
            guard self.picture == nil else { throw .malformed }
            self.picture = (type, data)
        case "EXIF": self.exif = self.exif ?? data
        // XMP, and what nobody knows.
        default: break
        }
    }

    private func parts() throws(ImageProblem) -> ImageParts {
        guard let picture else { throw .malformed }
        let size = try Self.size(of: picture.type, picture.data)
        var chunks = Array("WEBP".utf8)
        if let extended {
            guard size == (extended.width, extended.height) else { throw .malformed }
            // Lossless pictures have their alpha inside; only the flag tells of it.
            let alpha = self.alpha != nil || picture.type == "VP8L" ? extended.flags & Flag.alpha : 0
            let profiled = self.profile == nil ? 0 : Flag.profile
            let turned = self.orientation == nil ? 0 : Flag.exif
            var header: [UInt8] = [alpha | profiled | turned, 0, 0, 0]
            header.append(littleNumber: size.width - 1, bytes: 3)
            header.append(littleNumber: size.height - 1, bytes: 3)
            Self.append("VP8X", header[...], to: &chunks)
            if let profile = self.profile { Self.append("ICCP", profile, to: &chunks) }
            if let alpha = self.alpha, picture.type == "VP8 " { Self.append("ALPH", alpha, to: &chunks) }
        }
        Self.append(picture.type, picture.data, to: &chunks)
        if let orientation = self.orientation { Self.append("EXIF", Orientation.chunk(orientation)[...], to: &chunks) }
        var file = Array("RIFF".utf8)
        file.append(littleNumber: chunks.count, bytes: 4)
        return ImageParts(width: size.width, height: size.height, bytes: file + chunks)
    }

    /// How the picture was held; a file whose header does not tell of EXIF is shown as if it had none.
    private var orientation: Int? {
        guard let exif, let extended, extended.flags & Flag.exif != 0 else { return nil }
        return Orientation.read(chunk: exif)
    }

    private static func size(
        of type: String,
        _ data: ArraySlice<UInt8>
    ) throws(ImageProblem) -> (width: Int, height: Int) {
        var reader = ByteReader(data)
        if type == "VP8L" {
            guard try reader.byte() == 0x2f else { throw .malformed }
            let bits = try reader.littleNumber(bytes: 4)
            guard bits >> 29 == 0, reader.left > 0 else { throw .malformed }
            return (bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        }
        let tag = try reader.littleNumber(bytes: 3)
        // A key frame that is shown, its start code, then the sides with two bits of scaling each.
        guard tag & 1 == 0, tag >> 4 & 1 == 1, Array(try reader.take(3)) == [0x9d, 0x01, 0x2a] else { throw .malformed }
        let (width, height) = (try reader.littleNumber(bytes: 2), try reader.littleNumber(bytes: 2))
        guard reader.left > 0 else { throw .malformed }
        return (width & 0x3fff, height & 0x3fff)
    }

    private static func append(_ type: String, _ data: ArraySlice<UInt8>, to file: inout [UInt8]) {
        file += type.utf8
        file.append(littleNumber: data.count, bytes: 4)
        file += data
        if data.count % 2 == 1 { file.append(0) }
    }
}
