/// Lines of comma-separated values, as RFC 4180 writes them.
public enum CSV {
    /// A line with its end.
    ///
    /// A text that begins like a formula gets an apostrophe in front: spreadsheets run what begins with `=`, `+`, `-`, `@`,
    /// a tab or a carriage return.
    public static func line(_ cells: [String]) -> String {
        cells.map(self.cell).joined(separator: ",") + "\r\n"
    }

    private static func cell(_ text: String) -> String {
        let text = self.isFormula(text) ? "'" + text : text
        guard text.utf8.contains(where: { self.special.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private static let special: Set<UInt8> = [0x22, 0x2C, 0x0A, 0x0D]

    /// A plain number is none, also a negative one.
    private static func isFormula(_ text: String) -> Bool {
        guard let first = text.utf8.first, Self.starts.contains(first) else { return false }
        guard first == 0x2D else { return true }
        return !text.utf8.dropFirst().allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E } || text.utf8.count == 1
    }

    private static let starts: Set<UInt8> = [0x3D, 0x2B, 0x2D, 0x40, 0x09, 0x0D, 0x0A]
}
