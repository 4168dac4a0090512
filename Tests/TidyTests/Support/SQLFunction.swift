/// A function or procedure of an SQL file, found by its text.
struct SQLFunction: Equatable {
    let name: String
    /// Its parameters as they stand there: functions of one name may differ in them.
    let parameters: String
    /// The line of its CREATE.
    let line: Int
    /// From its CREATE to its closing `$$;`; nil when that does not come before the next one begins.
    let lines: Int?
    /// Whether it is made by CREATE OR REPLACE.
    let isRepeatable: Bool

    /// All that begin at a line's start, in their order.
    static func all(in text: String) -> [SQLFunction] {
        let beginning = #"^[ \t]*CREATE\s+(OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE)\s+([^\s(]+)\s*"#
        let parameters = #"(?:(\([^$]*?\))\s+(?:RETURNS|LANGUAGE|AS)\b)?"#
        let starts = SwiftText.matches("(?i)" + beginning + parameters, in: text)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let ends = starts.dropFirst().map { $0.line - 1 } + [lines.count]
        return zip(starts, ends).map { start, end in
            let closing = lines[(start.line - 1)..<end].firstIndex { $0.contains("$$;") }
            return SQLFunction(
                name: start.groups[2],
                parameters: start.groups[3].split { $0.isWhitespace }.joined(separator: " "),
                line: start.line,
                lines: closing.map { $0 - start.line + 2 },
                isRepeatable: !start.groups[1].isEmpty
            )
        }
    }
}
