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
    private static let maximumOfOne = 1
    /// What waits holds its rows: so many receipts, or a fifth as many of the longest statements.
    private static let room = 1024
    private static let share = 64
    private static let rowsOfOne = 100

    private let fonts: Fonts
    private let queue = FairQueue(
        places: Self.maximumAtOnce,
        each: Self.maximumOfOne,
        room: Self.room,
        share: Self.share
    )

    /// Makes a renderer; its copies share the queue.
    public init(fonts: Fonts = .dejaVu) { self.fonts = fonts }

    /// Draws a document of somebody's when it is its turn, on a thread of its own.
    ///
    /// - Returns: The bytes of the file.
    /// - Throws: `busy` when too many wait, or the caller was cancelled before it was drawn.
    public func render(_ document: Document, for owner: String) async throws(DocumentError) -> [UInt8] {
        let columns = document.columns.count
        guard document.rows.count <= Self.maximumRows, document.rows.allSatisfy({ $0.count == columns }) else {
            throw DocumentError(.badTable)
        }
        let fonts = self.fonts
        let result: Result<[UInt8], DocumentError>
        do {
            result = try await self.queue.run(for: owner, size: 1 + document.rows.count / Self.rowsOfOne) {
                await SideThread.run { Self.drawn(document, fonts) }
            }
        } catch {
            throw DocumentError(.busy)
        }
        return try result.get()
    }

    private static func drawn(_ document: Document, _ fonts: Fonts) -> Result<[UInt8], DocumentError> {
        do throws(DocumentError) {
            return .success(try Drawing.pdf(of: document, fonts))
        } catch {
            return .failure(error)
        }
    }
}
