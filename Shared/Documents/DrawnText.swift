import Foundation

/// Text as the library can draw it: one character after the other, of the first plane alone.
///
/// A letter that cannot be drawn is a box, never nothing: a receipt that leaves words out says something else. Of the first
/// plane the font itself has a box for what it lacks.
enum DrawnText {
    private static let placeholder = "\u{25A1}"

    /// What breaks a line is a space, letters of other planes are plain ones or boxes, Arabic letters are joined.
    static func clean(_ text: String) -> String {
        let spaced = String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isWhitespace || $0.value < 32 ? " " : $0 })
        )
        guard spaced.unicodeScalars.contains(where: Self.needsCare) else { return spaced }
        return ArabicLetters.joined(spaced.map(Self.drawable).joined())
    }

    private static func needsCare(_ scalar: Unicode.Scalar) -> Bool {
        Self.isRightToLeft(scalar) || Self.isInvisible(scalar) || scalar.value > 0xFFFF
            || (0xFF00...0xFFEF).contains(scalar.value)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .format || scalar.properties.isVariationSelector
    }

    private static func drawable(_ character: Character) -> String {
        let plain = String(character).precomposedStringWithCanonicalMapping
        let seen = String(String.UnicodeScalarView(plain.unicodeScalars.filter { !Self.isInvisible($0) }))
        guard seen.unicodeScalars.contains(where: { $0.value > 0xFFFF || (0xFF00...0xFFEF).contains($0.value) }) else {
            return seen
        }
        // Mathematical and wide letters are letters.
        let folded = seen.precomposedStringWithCompatibilityMapping
        return folded.unicodeScalars.allSatisfy { $0.value <= 0xFFFF } ? folded : Self.placeholder
    }

    // MARK: Order

    /// A line in the order in which its characters stand on paper, from left to right.
    ///
    /// Words from right to left keep their order among themselves, numbers in them theirs; the line itself goes from left
    /// to right, as the documents do.
    static func visual(_ line: String) -> String {
        guard line.unicodeScalars.contains(where: Self.isRightToLeft) else { return line }
        let characters = Array(line)
        var result: [Character] = []
        var index = 0
        while index < characters.count {
            guard Self.isRightToLeft(characters[index]) else {
                result.append(characters[index])
                index += 1
                continue
            }
            var (end, next) = (index + 1, index + 1)
            while next < characters.count, Self.isRightToLeft(characters[next]) || !characters[next].isLetter {
                if Self.isRightToLeft(characters[next]) || characters[next].isNumber { end = next + 1 }
                next += 1
            }
            result += Self.reversed(Array(characters[index..<end]))
            index = end
        }
        return String(result)
    }

    private static let mirrored: [Character: Character] = [
        "(": ")", ")": "(", "[": "]", "]": "[", "{": "}", "}": "{", "<": ">", ">": "<",
    ]

    private static func reversed(_ run: [Character]) -> [Character] {
        var result: [Character] = []
        var end = run.count
        while end > 0 {
            var begin = end - 1
            if run[begin].isNumber {
                while begin > 0, Self.isOfNumber(begin - 1, in: run) { begin -= 1 }
                result += run[begin..<end]
            } else {
                result.append(Self.mirrored[run[begin]] ?? run[begin])
            }
            end = begin
        }
        return result
    }

    /// Digits, and what stands between two of them.
    private static func isOfNumber(_ index: Int, in run: [Character]) -> Bool {
        if run[index].isNumber { return true }
        return index > 0 && run[index - 1].isNumber && run[index + 1].isNumber && ",.:/-".contains(run[index])
    }

    private static func isRightToLeft(_ character: Character) -> Bool {
        character.unicodeScalars.first.map(Self.isRightToLeft) ?? false
    }

    /// Letters of Hebrew, Arabic and their neighbours; not the digits among them.
    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x660...0x669, 0x6F0...0x6F9, 0x7C0...0x7C9: false
        case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFC: true
        default: false
        }
    }
}
