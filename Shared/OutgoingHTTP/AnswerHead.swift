/// The head of an answer, as its lines come.
struct AnswerHead {
    private(set) var status = 0
    private(set) var headers: [HTTPHeader] = []
    /// Whether the empty line at its end has come, of an answer that is not an interim one.
    private(set) var isComplete = false
    private var length = 0

    /// Takes a line; false when the head is longer than any may be.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        self.length += line.count
        guard self.length <= Transfer.longestHead else { return false }
        // What comes after the body: nobody asks for it.
        if self.isComplete { return true }
        let text = String(decoding: line, as: UTF8.self).trimmingLineEnd
        if text.isEmpty {
            self.isComplete = self.status >= 200 || self.status == 101
        } else if text.hasPrefix("HTTP/") {
            // A status line, the first or that after an interim answer.
            self.status = Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0
            self.headers = []
        } else if let colon = text.firstIndex(of: ":") {
            self.headers.append((String(text[..<colon]), text[text.index(after: colon)...].trimmingBlanks))
        }
        return true
    }
}

extension StringProtocol {
    fileprivate var trimmingLineEnd: String {
        var text = self[...]
        // A carriage return with a line feed is one character.
        while let last = text.last, last == "\r\n" || last == "\n" || last == "\r" { text.removeLast() }
        return String(text)
    }

    fileprivate var trimmingBlanks: String {
        var text = self.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }
}
