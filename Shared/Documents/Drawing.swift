/// Where things stand on the pages of a document.
struct Drawing {
    private let document: Document
    private let paper: Paper
    private let widths: [Float]

    private static let margin: Float = 42
    private static let bottom: Float = 54
    private static let innerWidth = Paper.width - 2 * Self.margin
    private static let labelWidth: Float = 130
    private static let fieldHeight: Float = 15
    private static let rowHeight: Float = 14
    private static let cellPadding: Float = 3
    private static let cellSize: Float = 7.5
    private static let textSize: Float = 9

    static func pdf(of document: Document, _ fonts: PDFRenderer.Fonts) throws(DocumentError) -> [UInt8] {
        let paper = try Paper(title: document.title, fonts)
        Drawing(document, paper).draw()
        return try paper.bytes()
    }

    private init(_ document: Document, _ paper: Paper) {
        self.document = document
        self.paper = paper
        let total = document.columns.reduce(0) { $0 + $1.share }
        self.widths = document.columns.map { Float($0.share / total) * Self.innerWidth }
    }

    private func draw() {
        self.paper.addPage()
        var y = self.drawHead()
        let pages = self.pageCount(firstPageFrom: y)
        var page = 1
        if !self.document.columns.isEmpty { y = self.drawTableHead(at: y) }
        for (index, row) in self.document.rows.enumerated() {
            if y - Self.rowHeight < Self.bottom {
                self.drawFoot(page, of: pages)
                self.paper.addPage()
                page += 1
                y = self.drawTableHead(at: Paper.height - Self.margin)
            }
            self.drawRow(row, at: y, isShaded: !index.isMultiple(of: 2))
            y -= Self.rowHeight
        }
        self.drawFoot(page, of: pages)
    }

    /// Rows are all of one height, so that the number of pages is known before the first one ends.
    private func pageCount(firstPageFrom y: Float) -> Int {
        let first = Self.rows(from: y)
        let later = Self.rows(from: Paper.height - Self.margin)
        let rest = self.document.rows.count - first
        return rest <= 0 ? 1 : 1 + (rest + later - 1) / later
    }

    /// How many rows stand below a head at `y`, counted as they are drawn.
    private static func rows(from y: Float) -> Int {
        var (count, y) = (0, y - Self.headHeight)
        while y - Self.rowHeight >= Self.bottom {
            count += 1
            y -= Self.rowHeight
        }
        return count
    }

    private static let headHeight: Float = Self.rowHeight + 4

    // MARK: Parts

    /// Title and fields; returns where the rest begins.
    private func drawHead() -> Float {
        var y = Paper.height - Self.margin - 14
        self.paper.write("Transfa", x: Self.margin, y: y, .bold, 11, gray: 0.45)
        y -= 26
        self.paper.write(Self.clean(self.document.title), x: Self.margin, y: y, .bold, 17)
        y -= 24
        for field in self.document.fields {
            let label = self.cut(Self.clean(field.label), to: Self.labelWidth - 6, .regular, Self.textSize)
            self.paper.write(label, x: Self.margin, y: y, .regular, Self.textSize, gray: 0.4)
            for line in self.lines(of: Self.clean(field.value), width: Self.innerWidth - Self.labelWidth) {
                self.paper.write(line, x: Self.margin + Self.labelWidth, y: y, .regular, Self.textSize)
                y -= Self.fieldHeight
            }
        }
        return y - 6
    }

    private func drawTableHead(at y: Float) -> Float {
        let base = y - Self.headHeight
        self.paper.fill(x: Self.margin, y: base + 3, width: Self.innerWidth, height: Self.headHeight - 3, gray: 0.88)
        self.drawCells(self.document.columns.map(\.title), at: base + 8, .bold)
        return base
    }

    private func drawRow(_ row: [String], at y: Float, isShaded: Bool) {
        let base = y - Self.rowHeight
        if isShaded {
            self.paper.fill(x: Self.margin, y: base, width: Self.innerWidth, height: Self.rowHeight, gray: 0.965)
        }
        self.drawCells(row, at: base + 4, .regular)
    }

    private func drawCells(_ texts: [String], at y: Float, _ weight: Paper.Weight) {
        var x = Self.margin
        for (index, column) in self.document.columns.enumerated() {
            let room = self.widths[index] - 2 * Self.cellPadding
            let text = self.cut(Self.clean(texts[index]), to: room, weight, Self.cellSize)
            let gap =
                column.alignment == .trailing ? room - self.paper.width(of: text, weight, Self.cellSize) : 0
            self.paper.write(text, x: x + Self.cellPadding + gap, y: y, weight, Self.cellSize)
            x += self.widths[index]
        }
    }

    private func drawFoot(_ page: Int, of pages: Int) {
        let y = Self.bottom - 22
        self.paper.line(from: Self.margin, to: Self.margin + Self.innerWidth, y: y + 12, gray: 0.75)
        let number = "Page \(page) of \(pages)"
        let width = self.paper.width(of: number, .regular, Self.cellSize)
        let note = self.cut(
            Self.clean(self.document.note),
            to: Self.innerWidth - width - 12,
            .regular,
            Self.cellSize
        )
        self.paper.write(note, x: Self.margin, y: y, .regular, Self.cellSize, gray: 0.4)
        let x = Self.margin + Self.innerWidth - width
        self.paper.write(number, x: x, y: y, .regular, Self.cellSize, gray: 0.4)
    }

    // MARK: Texts

    /// What breaks a line or is invisible becomes a space.
    private static func clean(_ text: String) -> String {
        String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 32 ? " " : $0 })
        )
    }

    /// The text, or as much of its beginning as there is room for.
    private func cut(_ text: String, to room: Float, _ weight: Paper.Weight, _ size: Float) -> String {
        guard self.paper.width(of: text, weight, size) > room else { return text }
        var (fits, over) = (0, text.count)
        while over - fits > 1 {
            let middle = (fits + over) / 2
            let isNarrow = self.paper.width(of: "\(text.prefix(middle))…", weight, size) <= room
            (fits, over) = isNarrow ? (middle, over) : (fits, middle)
        }
        return "\(text.prefix(fits))…"
    }

    /// The text in lines of a width, broken between words, at most as many as a page takes.
    private func lines(of text: String, width: Float) -> [String] {
        var lines: [String] = [""]
        for word in text.split(separator: " ") {
            let longer = (lines.last ?? "").isEmpty ? String(word) : "\(lines.last ?? "") \(word)"
            if self.paper.width(of: longer, .regular, Self.textSize) <= width || lines == [""] {
                lines[lines.count - 1] = longer
            } else {
                lines.append(String(word))
            }
        }
        return lines.prefix(Self.maximumLines).map { self.cut($0, to: width, .regular, Self.textSize) }
    }

    private static let maximumLines = 6
}
