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
        let rows = self.document.rows.map(self.laidOut)
        let pages = Self.pages(of: rows, firstFrom: y)
        for (index, page) in pages.enumerated() {
            if index > 0 {
                self.paper.addPage()
                y = Paper.height - Self.margin
            }
            if !self.document.columns.isEmpty { y = self.drawTableHead(at: y) }
            for number in page {
                self.drawRow(rows[number], at: y, isShaded: !number.isMultiple(of: 2))
                y -= rows[number].height
            }
            self.drawFoot(index + 1, of: pages.count)
        }
    }

    // MARK: Layout

    /// A row whose texts are broken into lines.
    private struct Row {
        let cells: [[String]]
        let height: Float
    }

    private func laidOut(_ texts: [String]) -> Row {
        let cells = texts.enumerated().map { index, text in
            let clean = DrawnText.clean(text)
            // An amount stays on its line, smaller if need be: in two parts it would be two amounts.
            guard self.document.columns[index].alignment == .leading else { return [clean] }
            return self.lines(of: clean, width: self.room(index), .regular, Self.cellSize, atMost: Self.cellLines)
        }
        let lines = cells.map(\.count).max() ?? 1
        return Row(cells: cells, height: Self.rowHeight + Float(lines - 1) * Self.lineHeight)
    }

    /// Which rows stand on which page: known before the first one is drawn, for each says how many there are.
    private static func pages(of rows: [Row], firstFrom y: Float) -> [Range<Int>] {
        var pages: [Range<Int>] = []
        var (start, y) = (0, y - Self.headHeight)
        for (index, row) in rows.enumerated() {
            if y - row.height < Self.bottom, index > start {
                pages.append(start..<index)
                (start, y) = (index, Paper.height - Self.margin - Self.headHeight)
            }
            y -= row.height
        }
        return pages + [start..<rows.count]
    }

    private func room(_ column: Int) -> Float { self.widths[column] - 2 * Self.cellPadding }

    private static let headHeight: Float = Self.rowHeight + 4

    // MARK: Parts

    /// Title and fields; returns where the rest begins.
    private func drawHead() -> Float {
        var y = Paper.height - Self.margin - 14
        self.paper.write("Transfa", x: Self.margin, y: y, .bold, 11, gray: 0.45)
        y -= 26
        self.paper.write(DrawnText.clean(self.document.title), x: Self.margin, y: y, .bold, 17)
        y -= 24
        for field in self.document.fields {
            let label = self.cut(DrawnText.clean(field.label), to: Self.labelWidth - 6, .regular, Self.textSize)
            self.paper.write(label, x: Self.margin, y: y, .regular, Self.textSize, gray: 0.4)
            let room = Self.innerWidth - Self.labelWidth
            for line in self.lines(
                of: DrawnText.clean(field.value),
                width: room,
                .regular,
                Self.textSize,
                atMost: Self.fieldLines
            ) {
                self.paper.write(line, x: Self.margin + Self.labelWidth, y: y, .regular, Self.textSize)
                y -= Self.fieldHeight
            }
        }
        return y - 6
    }

    private func drawTableHead(at y: Float) -> Float {
        let base = y - Self.headHeight
        self.paper.fill(x: Self.margin, y: base + 3, width: Self.innerWidth, height: Self.headHeight - 3, gray: 0.88)
        self.drawCells(self.document.columns.map { [DrawnText.clean($0.title)] }, at: base + 8, .bold)
        return base
    }

    private func drawRow(_ row: Row, at y: Float, isShaded: Bool) {
        let base = y - row.height
        if isShaded {
            self.paper.fill(x: Self.margin, y: base, width: Self.innerWidth, height: row.height, gray: 0.965)
        }
        self.drawCells(row.cells, at: y - Self.rowHeight + 4, .regular)
    }

    /// Draws the lines of each cell, the first at `y`.
    private func drawCells(_ cells: [[String]], at y: Float, _ weight: Paper.Weight) {
        var x = Self.margin
        for (index, column) in self.document.columns.enumerated() {
            var lineY = y
            for line in cells[index] {
                self.drawLine(line, column.alignment, x: x + Self.cellPadding, y: lineY, self.room(index), weight)
                lineY -= Self.lineHeight
            }
            x += self.widths[index]
        }
    }

    private func drawLine(
        _ text: String,
        _ alignment: Document.Column.Alignment,
        x: Float,
        y: Float,
        _ room: Float,
        _ weight: Paper.Weight
    ) {
        let width = self.paper.width(of: text, weight, Self.cellSize)
        let size = width <= room ? Self.cellSize : max(Self.smallestSize, Self.cellSize * room / width)
        let shown = self.cut(text, to: room, weight, size)
        let gap = alignment == .trailing ? room - self.paper.width(of: shown, weight, size) : 0
        self.paper.write(shown, x: x + gap, y: y, weight, size)
    }

    private func drawFoot(_ page: Int, of pages: Int) {
        let y = Self.bottom - 22
        self.paper.line(from: Self.margin, to: Self.margin + Self.innerWidth, y: y + 12, gray: 0.75)
        let number = "Page \(page) of \(pages)"
        let width = self.paper.width(of: number, .regular, Self.cellSize)
        let note = self.cut(
            DrawnText.clean(self.document.note),
            to: Self.innerWidth - width - 12,
            .regular,
            Self.cellSize
        )
        self.paper.write(note, x: Self.margin, y: y, .regular, Self.cellSize, gray: 0.4)
        let x = Self.margin + Self.innerWidth - width
        self.paper.write(number, x: x, y: y, .regular, Self.cellSize, gray: 0.4)
    }

    // MARK: Texts

    /// The text, or as much of its beginning as there is room for, with a mark that something is missing.
    private func cut(
        _ text: String,
        to room: Float,
        _ weight: Paper.Weight,
        _ size: Float,
        mark: String = "…"
    ) -> String {
        guard self.paper.width(of: text, weight, size) > room else { return text }
        var (fits, over) = (0, text.count)
        while over - fits > 1 {
            let middle = (fits + over) / 2
            let isNarrow = self.paper.width(of: "\(text.prefix(middle))\(mark)", weight, size) <= room
            (fits, over) = isNarrow ? (middle, over) : (fits, middle)
        }
        return "\(text.prefix(fits))\(mark)"
    }

    /// The text in lines of a width, broken between words, before hyphens, or where there is no other place.
    ///
    /// What does not fit into the last of them is cut.
    private func lines(
        of text: String,
        width: Float,
        _ weight: Paper.Weight,
        _ size: Float,
        atMost limit: Int
    ) -> [String] {
        guard self.paper.width(of: text, weight, size) > width else { return [text] }
        var lines: [String] = []
        var rest = Substring(text)
        while !rest.isEmpty, lines.count < limit - 1 {
            let fits = self.cut(String(rest), to: width, weight, size, mark: "")
            let line = fits.count == rest.count ? rest : Self.brokenWell(rest.prefix(fits.count), of: rest)
            lines.append(String(line).trimmingSuffix { $0 == " " })
            rest = rest.dropFirst(line.count).drop { $0 == " " }
        }
        if !rest.isEmpty { lines.append(self.cut(String(rest), to: width, weight, size)) }
        return lines
    }

    /// As much of what fits as ends with a word or before a hyphen; all of it when it has no such end.
    ///
    /// A hyphen begins the next line: readers that copy text drop one at the end of a line.
    private static func brokenWell(_ fitting: Substring, of rest: Substring) -> Substring {
        if let next = rest.dropFirst(fitting.count).first, next == " " || next == "-" { return fitting }
        guard let end = fitting.lastIndex(where: { $0 == " " || $0 == "-" }), end > fitting.startIndex else {
            return rest.prefix(max(1, fitting.count))
        }
        return fitting[..<end]
    }

    /// Lines of a field's value.
    private static let fieldLines = 6
    /// Lines of a cell: enough for the longest reference.
    private static let cellLines = 4
    private static let lineHeight: Float = 9.5
    /// Amounts are not made smaller than this.
    private static let smallestSize: Float = 4
}

extension String {
    fileprivate func trimmingSuffix(_ isDropped: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isDropped(last) { text.removeLast() }
        return text
    }
}
