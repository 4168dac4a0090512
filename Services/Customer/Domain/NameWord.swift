import Foundation

/// One word of a name, in capital letters without marks.
struct NameWord: Hashable, Sendable {
    /// Marks left out: MULLER.
    let plain: String
    /// As German and Danish write such letters without them: MUELLER.
    let written: String
    /// Whether the bank may have cut it off.
    let isCut: Bool

    /// A word shorter than this begins too many others.
    private static let shortestBeginning = 3
    /// In a word shorter than this one letter makes another name.
    private static let shortestTypo = 4

    /// The one spelling of a name that has several.
    var spelling: String { NameTables.spellings[self.plain] ?? self.plain }
    var isInitial: Bool { self.plain.count == 1 }
    var isLatin: Bool { self.plain.utf8.allSatisfy { $0 < 0x80 } }
    var mayBeTitle: Bool { NameTables.namesAndTitles.contains(self.plain) }

    /// The words of a name; `isCut`: it is as long as its bank lets names be.
    static func words(of text: String, isCut: Bool) -> [NameWord] {
        let composed = text.precomposedStringWithCanonicalMapping
        let plain = Self.parts(Self.replaced(composed, NameTables.letters))
        let written = Self.parts(Self.replaced(Self.replaced(composed, NameTables.twoLetters), NameTables.letters))
        return zip(plain, written).enumerated().map { index, word in
            NameWord(plain: word.0, written: word.1, isCut: isCut && index == plain.count - 1)
        }
    }

    private static func replaced(_ text: String, _ table: [Unicode.Scalar: String]) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if let other = table[scalar] {
                result += other
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func parts(_ text: String) -> [String] {
        text.folding(options: [.diacriticInsensitive, .caseInsensitive, .widthInsensitive], locale: nil).uppercased()
            .split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    // MARK: Comparing

    /// Whether two words are the same, letter by letter.
    func isWritten(as other: NameWord) -> Bool {
        self.plain == other.plain || self.written == other.plain || self.plain == other.written
    }

    /// Whether it is what a bank left of a word.
    func isRest(of other: NameWord) -> Bool {
        self.isCut && self.plain.count >= Self.shortestBeginning
            && (other.plain.hasPrefix(self.plain) || other.written.hasPrefix(self.plain))
    }

    /// Whether two words may be the same.
    func isNear(_ other: NameWord) -> Bool {
        let (one, two) = (self.plain, other.plain)
        let shorter = min(one.count, two.count)
        if shorter >= Self.shortestBeginning, one.hasPrefix(two) || two.hasPrefix(one) { return true }
        return shorter >= Self.shortestTypo && Self.differByOneLetter(Array(one.utf8), Array(two.utf8))
    }

    func joined(with next: NameWord) -> NameWord {
        NameWord(plain: self.plain + next.plain, written: self.written + next.written, isCut: next.isCut)
    }

    /// One letter is another, is missing, or has changed places with the next.
    private static func differByOneLetter(_ one: [UInt8], _ two: [UInt8]) -> Bool {
        guard abs(one.count - two.count) <= 1 else { return false }
        let start = zip(one, two).prefix { $0 == $1 }.count
        let (restOne, restTwo) = (one.dropFirst(start), two.dropFirst(start))
        if restOne.count != restTwo.count {
            let (longer, shorter) = restOne.count > restTwo.count ? (restOne, restTwo) : (restTwo, restOne)
            return longer.dropFirst().elementsEqual(shorter)
        }
        if restOne.dropFirst().elementsEqual(restTwo.dropFirst()) { return true }
        return restOne.dropFirst(2).elementsEqual(restTwo.dropFirst(2))
            && restOne.prefix(2).reversed().elementsEqual(restTwo.prefix(2))
    }
}
