/// One statement of a file, without the semicolon at its end.
struct SQLStatement: Sendable, Hashable {
    let text: String
    /// The first words outside of quotes and comments, in lower case.
    let words: [String]

    /// It makes a function or a procedure.
    var isDefinition: Bool {
        guard self.words.first == "create" else { return false }
        let kind = self.isRepeatable ? self.words.dropFirst(3).first : self.words.dropFirst().first
        return kind == "function" || kind == "procedure"
    }

    /// It says `CREATE OR REPLACE`.
    var isRepeatable: Bool { self.words.starts(with: ["create", "or", "replace"]) }

    /// The statements of a file.
    ///
    /// Knows what can hide a semicolon: texts, names, comments, parentheses and bodies (`$$`, `BEGIN ATOMIC`). Whatever
    /// does not end belongs to the last statement, and the server says what is wrong.
    static func all(in text: String) -> [SQLStatement] {
        var splitter = StatementSplitter(bytes: Array(text.utf8))
        return splitter.split()
    }
}

private struct StatementSplitter {
    /// No more of a statement's words are kept.
    private static let keptWords = 4

    let bytes: [UInt8]
    private var position = 0
    private var start = 0
    private var words: [String] = []
    private var previousWord = ""
    private var parentheses = 0
    /// In a body of `BEGIN ATOMIC`: how many `END` are missing.
    private var blocks = 0
    private var found: [SQLStatement] = []

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func split() -> [SQLStatement] {
        while let byte = self.byte(0) {
            switch byte {
            case UInt8(ascii: "'"): self.skipQuoted(byte, escapes: false)
            case UInt8(ascii: "\""): self.skipQuoted(byte, escapes: false)
            case UInt8(ascii: "-") where self.byte(1) == UInt8(ascii: "-"): self.skipLine()
            case UInt8(ascii: "/") where self.byte(1) == UInt8(ascii: "*"): self.skipComment()
            case UInt8(ascii: "$"): self.skipDollarQuoted()
            case UInt8(ascii: "("): self.step { $0.parentheses += 1 }
            case UInt8(ascii: ")"): self.step { $0.parentheses -= 1 }
            case UInt8(ascii: ";") where self.parentheses <= 0 && self.blocks == 0: self.step { $0.finish(before: 1) }
            case _ where isOfName(byte): self.takeWord()
            default: self.position += 1
            }
        }
        self.finish(before: 0)
        return self.found
    }

    private func byte(_ offset: Int) -> UInt8? {
        let index = self.position + offset
        return index < self.bytes.count ? self.bytes[index] : nil
    }

    private mutating func step(_ change: (inout StatementSplitter) -> Void) {
        self.position += 1
        change(&self)
    }

    private mutating func finish(before last: Int) {
        defer {
            self.start = self.position
            self.words = []
            self.previousWord = ""
            self.parentheses = 0
            self.blocks = 0
        }
        // Comments and nothing else.
        guard !self.words.isEmpty else { return }
        let end = min(self.position, self.bytes.count) - last
        let text = String(decoding: self.bytes[self.start..<end], as: UTF8.self)
        self.found.append(SQLStatement(text: text, words: self.words))
    }

    private mutating func skipQuoted(_ quote: UInt8, escapes: Bool) {
        self.position += 1
        while let byte = self.byte(0) {
            self.position += 1
            if escapes, byte == UInt8(ascii: "\\") {
                self.position += 1
            } else if byte == quote {
                // A doubled quote begins another text at once, which is the same here.
                return
            }
        }
    }

    private mutating func skipLine() {
        while let byte = self.byte(0), byte != UInt8(ascii: "\n") { self.position += 1 }
    }

    /// Comments of this kind stand in each other.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if self.byte(0) == UInt8(ascii: "/"), self.byte(1) == UInt8(ascii: "*") {
                depth += 1
                self.position += 2
            } else if self.byte(0) == UInt8(ascii: "*"), self.byte(1) == UInt8(ascii: "/") {
                depth -= 1
                self.position += 2
            } else {
                self.position += 1
            }
        } while depth > 0 && self.position < self.bytes.count
    }

    /// `$$ ... $$` or `$tag$ ... $tag$`; a lone dollar is the number of an argument.
    private mutating func skipDollarQuoted() {
        var end = self.position + 1
        while end < self.bytes.count, isOfName(self.bytes[end]), self.bytes[end] != UInt8(ascii: "$") { end += 1 }
        guard end < self.bytes.count, self.bytes[end] == UInt8(ascii: "$") else {
            self.position += 1
            return
        }
        let tag = self.bytes[self.position...end]
        self.position = end + 1
        while self.position < self.bytes.count {
            if self.bytes[self.position] == UInt8(ascii: "$"), self.bytes[self.position...].starts(with: tag) {
                self.position += tag.count
                return
            }
            self.position += 1
        }
    }

    private mutating func takeWord() {
        let begin = self.position
        while let byte = self.byte(0), isOfName(byte) { self.position += 1 }
        let word = String(decoding: self.bytes[begin..<self.position], as: UTF8.self).lowercased()
        if word == "e", self.byte(0) == UInt8(ascii: "'") {
            self.skipQuoted(UInt8(ascii: "'"), escapes: true)
            return
        }
        self.note(word)
        self.previousWord = word
    }

    private mutating func note(_ word: String) {
        if self.words.count < Self.keptWords { self.words.append(word) }
        guard self.words.first == "create" else { return }
        switch word {
        case "atomic" where self.previousWord == "begin" && self.blocks == 0: self.blocks = 1
        case "case" where self.blocks > 0: self.blocks += 1
        case "end" where self.blocks > 0: self.blocks -= 1
        default: break
        }
    }
}

/// A letter, digit, underscore, dollar or a part of a character beyond ASCII.
private func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xff:
        true
    default: false
    }
}
