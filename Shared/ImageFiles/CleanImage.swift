/// A picture's file without metadata.
public struct CleanImage: Sendable, Hashable {
    /// What the file is.
    public let kind: ImageKind
    /// In pixels.
    public let width: Int
    /// In pixels.
    public let height: Int
    /// The file.
    public let bytes: [UInt8]

    /// Takes a file apart and puts it together again without metadata.
    ///
    /// - Throws: `ImageProblem`.
    public init(cleaning bytes: [UInt8], within limits: ImageLimits = ImageLimits()) throws(ImageProblem) {
        guard let kind = ImageKind(of: bytes) else { throw .unknownKind }
        guard bytes.count <= limits.bytes else { throw .tooManyBytes }
        let parts: ImageParts
        switch kind {
        case .jpeg: parts = try JPEGCleaner.clean(bytes, within: limits)
        case .png: parts = try PNGCleaner.clean(bytes, within: limits)
        case .webp: parts = try WebPCleaner.clean(bytes)
        }
        try limits.check(width: parts.width, height: parts.height)
        self.kind = kind
        self.width = parts.width
        self.height = parts.height
        self.bytes = parts.bytes
    }
}

/// The kinds of files that are taken.
public enum ImageKind: String, Sendable, CaseIterable {
    case jpeg
    case png
    case webp

    /// The media type.
    public var contentType: String { "image/\(self.rawValue)" }

    /// Reads a kind from a media type.
    public init?(contentType: String) {
        guard let kind = Self.allCases.first(where: { $0.contentType == contentType }) else { return nil }
        self = kind
    }

    /// What the first bytes say, whatever the sender says.
    init?(of bytes: [UInt8]) {
        if bytes.starts(with: [0xff, 0xd8, 0xff]) {
            self = .jpeg
        } else if bytes.starts(with: PNGCleaner.signature) {
            self = .png
        } else if bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8...].starts(with: "WEBP".utf8) {
            self = .webp
        } else {
            return nil
        }
    }
}

/// Why a file is not taken.
public enum ImageProblem: Error, Hashable, Sendable {
    /// Neither JPEG nor PNG nor WebP.
    case unknownKind
    /// It breaks its format, or uses a part of it that nobody uses.
    case malformed
    /// It moves.
    case animated
    /// The file is too long.
    case tooManyBytes
    /// The picture is too large, or would take too long to show.
    case tooManyPixels
}

/// What came of cleaning.
struct ImageParts {
    let width: Int
    let height: Int
    let bytes: [UInt8]
}
