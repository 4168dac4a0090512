import CHaru

/// The one file that calls the library: a PDF under way, on one thread.
///
/// Without an error handler the library remembers its first error and refuses everything after it, so one look at the
/// end finds it.
final class Paper {
    /// A loaded font.
    enum Weight {
        case regular
        case bold
    }

    /// A4, in points.
    static let width: Float = 595
    /// A4, in points.
    static let height: Float = 842

    private let document: HPDF_Doc
    private let regular: HPDF_Font
    private let bold: HPDF_Font
    private var page: HPDF_Page?

    init(title: String, _ fonts: PDFRenderer.Fonts) throws(DocumentError) {
        guard let document = HPDF_New(nil, nil) else { throw DocumentError(.library) }
        HPDF_UseUTFEncodings(document)
        HPDF_SetCompressionMode(document, HPDF_UINT(HPDF_COMP_ALL))
        HPDF_SetInfoAttr(document, HPDF_INFO_TITLE, title)
        guard let regular = Self.font(fonts.regular, document), let bold = Self.font(fonts.bold, document) else {
            let status = UInt(HPDF_GetError(document))
            HPDF_Free(document)
            throw DocumentError(.font, status: status)
        }
        self.document = document
        self.regular = regular
        self.bold = bold
    }

    deinit { HPDF_Free(self.document) }

    private static func font(_ file: String, _ document: HPDF_Doc) -> HPDF_Font? {
        guard let name = HPDF_LoadTTFontFromFile(document, file, HPDF_BOOL(HPDF_TRUE)) else { return nil }
        return HPDF_GetFont(document, name, "UTF-8")
    }

    private func font(_ weight: Weight) -> HPDF_Font { weight == .bold ? self.bold : self.regular }

    // MARK: Drawing; the origin is the lower left corner

    func addPage() {
        let page = HPDF_AddPage(self.document)
        HPDF_Page_SetWidth(page, Self.width)
        HPDF_Page_SetHeight(page, Self.height)
        self.page = page
    }

    /// The width of a text in points.
    func width(of text: String, _ weight: Weight, _ size: Float) -> Float {
        HPDF_Page_SetFontAndSize(self.page, self.font(weight), size)
        return HPDF_Page_TextWidth(self.page, text)
    }

    func write(_ text: String, x: Float, y: Float, _ weight: Weight, _ size: Float, gray: Float = 0) {
        guard !text.isEmpty else { return }
        HPDF_Page_SetGrayFill(self.page, gray)
        HPDF_Page_BeginText(self.page)
        HPDF_Page_SetFontAndSize(self.page, self.font(weight), size)
        HPDF_Page_TextOut(self.page, x, y, DrawnText.visual(text))
        HPDF_Page_EndText(self.page)
    }

    func line(from x: Float, to end: Float, y: Float, gray: Float) {
        HPDF_Page_SetLineWidth(self.page, 0.5)
        HPDF_Page_SetGrayStroke(self.page, gray)
        HPDF_Page_MoveTo(self.page, x, y)
        HPDF_Page_LineTo(self.page, end, y)
        HPDF_Page_Stroke(self.page)
    }

    func fill(x: Float, y: Float, width: Float, height: Float, gray: Float) {
        HPDF_Page_SetGrayFill(self.page, gray)
        HPDF_Page_Rectangle(self.page, x, y, width, height)
        HPDF_Page_Fill(self.page)
    }

    // MARK: The file

    func bytes() throws(DocumentError) -> [UInt8] {
        HPDF_SaveToStream(self.document)
        let status = HPDF_GetError(self.document)
        guard status == HPDF_STATUS(HPDF_OK) else { throw DocumentError(.library, status: UInt(status)) }
        HPDF_ResetStream(self.document)
        let size = HPDF_GetStreamSize(self.document)
        var read = size
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
            HPDF_ReadFromStream(self.document, buffer.baseAddress, &read)
            count = Int(read)
        }
        guard read == size else { throw DocumentError(.library, status: UInt(HPDF_GetError(self.document))) }
        return bytes
    }
}
