import Foundation

/// The one rule for every text that a person writes and somebody else is shown: names, notes, reasons, titles, answers.
///
/// A text is one line. It is kept composed (NFC) and without blanks around it, so that what looks the same is the same. What
/// is taken shows: nothing in it is hidden, turns the text around it, or piles up over the lines next to it.
public enum PersonText {
    /// Why a text is not taken.
    public enum Problem: Error, Sendable, Hashable {
        /// It has too few or too many code points.
        case length
        /// Something in it does not show, or changes how others are shown.
        case notShown
    }

    /// The most combining marks on one letter; no language needs more.
    public static let mostMarks = 6
    /// The most pieces of another direction inside of each other.
    static let deepestIsolates = 4

    /// A text in the form in which it is kept.
    ///
    /// - Parameters:
    ///   - written: What the person wrote.
    ///   - length: How many code points the kept form has, the unit of JSON schemas; each has at most four bytes.
    /// - Returns: The text, composed and without blanks around it; empty only when the length allows it.
    /// - Throws: ``Problem``.
    public static func checked(_ written: String, _ length: ClosedRange<Int>) throws(Problem) -> String {
        // Bytes first: what is far too long is not read to its end.
        guard written.utf8.count <= Self.longest(length) else { throw .length }
        let scalars = written.precomposedStringWithCanonicalMapping.unicodeScalars
        let isBlank: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: { !isBlank($0) }),
            let last = scalars.lastIndex(where: { !isBlank($0) })
        else {
            guard length.contains(0) else { throw .length }
            return ""
        }
        let text = String(String.UnicodeScalarView(scalars[first...last]))
        guard text.hasCodePoints(length) else { throw .length }
        guard Self.shows(Array(text.unicodeScalars)) else { throw .notShown }
        return text
    }

    /// Decomposed, a letter may have several code points, and blanks around it count for nothing.
    private static func longest(_ length: ClosedRange<Int>) -> Int { 16 * length.upperBound + 64 }

    private static func shows(_ scalars: [Unicode.Scalar]) -> Bool {
        var isolates = 0
        var marks = 0
        var seen = false
        for (place, scalar) in scalars.enumerated() {
            switch Kind(scalar) {
            case .letter:
                marks = 0
                seen = true
            case .blank: marks = 0
            case .mark:
                marks += 1
                // A mark at the beginning would sit on what is shown in front of the text.
                guard place > 0, marks <= Self.mostMarks else { return false }
            case .joiner:
                guard Self.isNeeded(scalar, at: place, in: scalars) else { return false }
            case .isolate:
                isolates += 1
                guard isolates <= Self.deepestIsolates else { return false }
            case .endOfIsolate:
                isolates -= 1
                guard isolates >= 0 else { return false }
            case .hidden: return false
            }
        }
        return seen && isolates == 0
    }

    private enum Kind {
        case letter
        case blank
        case mark
        case joiner
        case isolate
        case endOfIsolate
        case hidden

        init(_ scalar: Unicode.Scalar) {
            switch scalar.value {
            case 0x20...0x7e: self = scalar == " " ? .blank : .letter
            case 0x200c, 0x200d: self = .joiner
            case 0x2066...0x2068: self = .isolate
            case 0x2069: self = .endOfIsolate
            // They say how the letter before them is drawn.
            case 0xfe00...0xfe0f, 0xe0100...0xe01ef: self = .mark
            // The blank of Braille is a letter to Unicode.
            case 0x2800: self = .blank
            default: self = Self.byProperties(scalar.properties)
            }
        }

        private static func byProperties(_ properties: Unicode.Scalar.Properties) -> Kind {
            switch properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: .hidden
            case .spaceSeparator: .blank
            case _ where properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint: .hidden
            case .nonspacingMark, .enclosingMark: .mark
            // What is not assigned yet may be on phones that are newer than we are.
            default: .letter
            }
        }
    }

    /// Joiners say something between two emoji, at a virama (RFC 5892, A.1 and A.2), and between letters that join.
    private static func isNeeded(_ joiner: Unicode.Scalar, at place: Int, in scalars: [Unicode.Scalar]) -> Bool {
        guard let before = scalars[..<place].last else { return false }
        if before.properties.canonicalCombiningClass == .virama { return true }
        guard place + 1 < scalars.count else { return false }
        let next = scalars[place + 1]
        // Bengali has one before it, too.
        if next.properties.canonicalCombiningClass == .virama { return before.properties.isAlphabetic }
        if joiner.value == 0x200d, Self.isPicture(next),
            let picture = scalars[..<place].last(where: { Kind($0) != .mark && !$0.properties.isEmojiModifier })
        {
            return Self.isPicture(picture)
        }
        let letter = scalars[..<place].last { Kind($0) != .mark }
        return Self.joins(next) && letter.map(Self.joins) == true
    }

    /// Emoji beyond the digits and marks of ASCII.
    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji && scalar.value > 0xff
    }

    /// Letters of scripts that are written joined: Arabic, Syriac, N'Ko, Mandaic, Mongolian, Phags-pa, Adlam.
    private static func joins(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x600...0x77f, 0x7c0...0x7ff, 0x840...0x8ff, 0x1800...0x18af, 0xa840...0xa87f, 0x1e900...0x1e95f:
            scalar.properties.isAlphabetic
        default: false
        }
    }
}
