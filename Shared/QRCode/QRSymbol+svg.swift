extension QRSymbol {
    /// An SVG file: one path of dark runs on a white square, a unit per module.
    public func svg() -> String {
        let whole = self.side + 2 * Self.quietZone
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(whole) \(whole)" shape-rendering="crispEdges">\
            <path fill="#fff" d="M0 0h\(whole)v\(whole)h-\(whole)z"/><path fill="#000" d="\(self.darkRuns)"/></svg>

            """
    }

    private var darkRuns: String {
        var path = ""
        for row in 0..<self.side {
            var column = 0
            while column < self.side {
                let start = column
                while self.isDark(row: row, column: column) { column += 1 }
                let length = column - start
                if length > 0 {
                    path += "M\(start + Self.quietZone) \(row + Self.quietZone)h\(length)v1h-\(length)z"
                }
                column += 1
            }
        }
        return path
    }
}
