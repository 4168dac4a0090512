import EventLoops

/// Draws documents as PDF.
public struct PDFRenderer: Sendable {
    /// The files of the two fonts.
    public struct Fonts: Sendable, Hashable {
        /// For texts.
        public var regular: String
        /// For titles and heads.
        public var bold: String

        /// Names two TrueType files.
        public init(regular: String, bold: String) {
            self.regular = regular
            self.bold = bold
        }

        /// Those of Debian's `fonts-dejavu-core`.
        public static let dejaVu = Fonts(
            regular: "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
            bold: "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"
        )
    }

    /// The most rows that a document may have.
    public static let maximumRows = 20_000
    /// How many are drawn at once.
    private static let maximumAtOnce = 2

    private let fonts: Fonts
    private let underWay = Locked(0)

    /// Makes a renderer; its copies share the limit.
    public init(fonts: Fonts = .dejaVu) { self.fonts = fonts }

    /// Draws a document, on a thread of its own.
    ///
    /// - Returns: The bytes of the file.
    /// - Throws: `busy` when enough others are being drawn.
    public func render(_ document: Document) async throws(DocumentError) -> [UInt8] {
        let columns = document.columns.count
        guard document.rows.count <= Self.maximumRows, document.rows.allSatisfy({ $0.count == columns }) else {
            throw DocumentError(.badTable)
        }
        let isFree = self.underWay.withLock { count in
            guard count < Self.maximumAtOnce else { return false }
            count += 1
            return true
        }
        guard isFree else { throw DocumentError(.busy) }
        defer { self.underWay.withLock { $0 -= 1 } }
        let fonts = self.fonts
        let result = await SideThread.run { () -> Result<[UInt8], DocumentError> in
            do throws(DocumentError) {
                return .success(try Drawing.pdf(of: document, fonts))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
