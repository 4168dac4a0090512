/// Finds functions and initialisers with their length in lines.
struct FunctionScanner {
    struct Function: Equatable {
        let name: String
        let line: Int
        let lines: Int
    }

    private let bytes: [UInt8]

    /// - Parameter code: Swift without comments and strings.
    init(code: String) {
        self.bytes = Array(code.utf8)
    }

    static func functions(in code: String) -> [Function] {
        let scanner = FunctionScanner(code: code)
        let starts = SwiftText.matches(#"\b(?:func\s+([^\s(<]+)|(init)[?]?\s*[(<]|(deinit)\b)"#, in: code)
        return scanner.measure(starts.map { ($0.line, $0.groups[1...].joined()) })
    }

    private func measure(_ starts: [(line: Int, name: String)]) -> [Function] {
        let offsets = self.lineOffsets()
        return starts.compactMap { start in
            let from = offsets[start.line - 1]
            guard let opening = self.bodyStart(from: from), let end = self.bodyEnd(from: opening) else { return nil }
            let lines = self.bytes[from...end].count { $0 == 10 } + 1
            return Function(name: start.name, line: start.line, lines: lines)
        }
    }

    private func lineOffsets() -> [Int] {
        [0] + self.bytes.indices.filter { self.bytes[$0] == 10 }.map { $0 + 1 }
    }

    /// The brace that opens the body; nil for a requirement of a protocol and for a call of an initialiser.
    private func bodyStart(from start: Int) -> Int? {
        var depth = 0
        for index in start..<self.bytes.count {
            switch self.bytes[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "{") where depth == 0: return index
            case UInt8(ascii: "}") where depth == 0, UInt8(ascii: ";") where depth == 0: return nil
            case 10 where depth == 0 && !self.continues(after: index): return nil
            default: break
            }
            if depth < 0 {
                return nil
            }
        }
        return nil
    }

    /// Whether the signature goes on in the next line.
    private func continues(after newline: Int) -> Bool {
        let rest = String(decoding: self.bytes[newline...].drop { $0 <= 32 }.prefix(12), as: UTF8.self)
        return ["{", "->", "where", "throws", "async", "rethrows"].contains { rest.hasPrefix($0) }
    }

    private func bodyEnd(from opening: Int) -> Int? {
        var depth = 0
        for index in opening..<self.bytes.count {
            if self.bytes[index] == UInt8(ascii: "{") {
                depth += 1
            } else if self.bytes[index] == UInt8(ascii: "}") {
                depth -= 1
                if depth == 0 {
                    return index
                }
            }
        }
        return nil
    }
}
