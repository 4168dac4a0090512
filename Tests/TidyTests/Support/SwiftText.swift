import Foundation

/// Just enough knowledge of Swift's text to count braces and to find words outside comments and strings.
enum SwiftText {
    private enum Mode {
        case code(parentheses: Int)
        case lineComment
        case blockComment(depth: Int)
        case string(quotes: Int, hashes: Int)
    }

    /// The same text with everything inside comments and string literals turned into spaces.
    ///
    /// Code inside an interpolation stays.
    static func withoutCommentsAndStrings(_ text: String) -> String {
        var scanner = Scanner(bytes: Array(text.utf8))
        scanner.run()
        return String(decoding: scanner.output, as: UTF8.self)
    }

    private struct Scanner {
        let bytes: [UInt8]
        var output: [UInt8] = []
        var index = 0
        var modes: [Mode] = [.code(parentheses: 0)]

        init(bytes: [UInt8]) {
            self.bytes = bytes
            self.output.reserveCapacity(bytes.count)
        }

        mutating func run() {
            while self.index < self.bytes.count {
                switch self.modes.last {
                case .code(let parentheses): self.code(parentheses)
                case .lineComment: self.lineComment()
                case .blockComment(let depth): self.blockComment(depth)
                case .string(let quotes, let hashes): self.string(quotes, hashes)
                case nil: return
                }
            }
        }

        func startsHere(_ word: String) -> Bool {
            self.bytes[self.index...].starts(with: word.utf8)
        }

        func count(of byte: Character, from start: Int) -> Int {
            self.bytes[start...].prefix { $0 == byte.asciiValue }.count
        }

        /// Three only before the end of a line: in `#""""#` and in an empty string the first alone opens.
        func openingQuotes(from start: Int) -> Int {
            let count = self.count(of: "\"", from: start)
            let isMultiline = count == 3 && start + 3 < self.bytes.count && self.bytes[start + 3] == UInt8(ascii: "\n")
            return isMultiline ? 3 : min(count, 1)
        }

        mutating func keep(_ count: Int = 1) {
            self.output += self.bytes[self.index..<min(self.index + count, self.bytes.count)]
            self.index += count
        }

        mutating func blank(_ count: Int = 1) {
            for byte in self.bytes[self.index..<min(self.index + count, self.bytes.count)] {
                self.output.append(byte == 10 ? 10 : 32)
            }
            self.index += count
        }

        mutating func code(_ parentheses: Int) {
            let hashes = self.count(of: "#", from: self.index)
            let quotes = self.openingQuotes(from: self.index + hashes)
            if self.startsHere("//") {
                self.modes.append(.lineComment)
            } else if self.startsHere("/*") {
                self.modes.append(.blockComment(depth: 0))
            } else if quotes > 0 {
                self.keep(hashes + quotes)
                self.modes.append(.string(quotes: quotes, hashes: hashes))
            } else if self.startsHere("("), self.modes.count > 1 {
                self.modes[self.modes.count - 1] = .code(parentheses: parentheses + 1)
                self.keep()
            } else if self.startsHere(")"), self.modes.count > 1 {
                self.keep()
                if parentheses == 1 {
                    self.modes.removeLast()
                } else {
                    self.modes[self.modes.count - 1] = .code(parentheses: parentheses - 1)
                }
            } else {
                self.keep()
            }
        }

        mutating func lineComment() {
            if self.bytes[self.index] == 10 {
                self.modes.removeLast()
                self.keep()
            } else {
                self.blank()
            }
        }

        mutating func blockComment(_ depth: Int) {
            if self.startsHere("/*") {
                self.modes[self.modes.count - 1] = .blockComment(depth: depth + 1)
                self.blank(2)
            } else if self.startsHere("*/") {
                self.blank(2)
                if depth == 1 {
                    self.modes.removeLast()
                } else {
                    self.modes[self.modes.count - 1] = .blockComment(depth: depth - 1)
                }
            } else {
                self.blank()
            }
        }

        mutating func string(_ quotes: Int, _ hashes: Int) {
            let escape = "\\" + String(repeating: "#", count: hashes)
            let end = String(repeating: "\"", count: quotes) + String(repeating: "#", count: hashes)
            if self.startsHere(escape + "(") {
                self.blank(escape.utf8.count)
                self.modes.append(.code(parentheses: 0))
            } else if self.startsHere(escape) {
                self.blank(escape.utf8.count + 1)
            } else if self.startsHere(end) {
                self.keep(end.utf8.count)
                self.modes.removeLast()
            } else {
                self.blank()
            }
        }
    }

    /// Every match of a pattern with its line and groups.
    static func matches(_ pattern: String, in text: String) -> [(line: Int, groups: [String])] {
        guard let expression = try? NSRegularExpression(pattern: pattern, options: [.anchorsMatchLines]) else {
            return [(0, ["the pattern \(pattern) is not valid"])]
        }
        let whole = text as NSString
        var line = 1
        var position = 0
        return expression.matches(in: text, range: NSRange(location: 0, length: whole.length)).map { match in
            let between = whole.substring(with: NSRange(location: position, length: match.range.location - position))
            line += between.utf8.count { $0 == 10 }
            position = match.range.location
            let groups = (0..<match.numberOfRanges).map { index in
                let range = match.range(at: index)
                return range.location == NSNotFound ? "" : whole.substring(with: range)
            }
            return (line, groups)
        }
    }
}
