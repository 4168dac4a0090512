/// How large a picture may be, and how long it may take to show it.
public struct ImageLimits: Sendable, Hashable {
    /// Of the file.
    public var bytes: Int
    /// Of the picture.
    public var pixels: Int
    /// The longer side.
    public var side: Int
    /// Of a JPEG: how often a decoder may have to go through it.
    public var scans: Int
    /// Of a JPEG: what all its scans go through together.
    ///
    /// A scan of a component goes through as many samples as the component has, however few bytes it holds.
    public var samples: Int
    /// Of a PNG: the bytes that its rows unpack to.
    public var unpacked: Int

    /// Takes bounds; the usual ones take what a phone photographs, once it was made smaller.
    ///
    /// Encoders write about 10 scans when they write more than one; with 25 million pixels in full colour these go
    /// through 350 million samples. 25 million pixels of 8 bits in colour and alpha unpack to 100 million bytes.
    public init(
        bytes: Int = 5 * 1024 * 1024,
        pixels: Int = 25_000_000,
        side: Int = 8192,
        scans: Int = 100,
        samples: Int = 400_000_000,
        unpacked: Int = 110_000_000
    ) {
        self.bytes = bytes
        self.pixels = pixels
        self.side = side
        self.scans = scans
        self.samples = samples
        self.unpacked = unpacked
    }

    /// Refuses a picture that is too large.
    func check(width: Int, height: Int) throws(ImageProblem) {
        guard width > 0, height > 0 else { throw .malformed }
        guard width <= self.side, height <= self.side, width * height <= self.pixels else { throw .tooManyPixels }
    }
}
