import Foundation
import TestSupport
import Testing

@testable import Documents

@Suite("Text as a document shows it")
struct DrawnTextTests {
    @Test(
        "a letter that cannot be drawn is a box, one of other planes that is a letter is that letter",
        arguments: [
            ("Happy birthday 🎉🎂 from us", "Happy birthday □□ from us"), ("𝐀𝐁𝐂 rent", "ABC rent"),
            ("👨‍👩‍👧 and 🇳🇬 and 👍🏽", "□ and □ and □"), ("ＡＢＣ", "ABC"), ("☕\u{FE0F} tea", "☕ tea"), ("₦1,234.50", "₦1,234.50"),
            ("ọ̀yẹ́ Ɓala", "ọ̀yẹ́ Ɓala"), ("one\ntwo\u{7}", "one two "), ("a\u{200B}b", "ab"), ("𓀀", "□"), ("", ""),
        ]
    )
    func clean(text: String, drawn: String) {
        // The same to Swift are a letter with a mark and the two code points of it; here the code points count.
        let (found, wanted) = (DrawnText.clean(text), drawn.precomposedStringWithCanonicalMapping)
        #expect(found.precomposedStringWithCanonicalMapping.unicodeScalars.elementsEqual(wanted.unicodeScalars))
    }

    @Test("Arabic letters have the forms of their neighbours, with and without vowel signs")
    func arabic() {
        #expect(ArabicLetters.joined("سلام") == "\u{FEB3}\u{FEFC}\u{FEE1}")
        #expect(ArabicLetters.joined("دار") == "\u{FEA9}\u{FE8D}\u{FEAD}")
        #expect(ArabicLetters.joined("بيت بيت") == "\u{FE91}\u{FEF4}\u{FE96} \u{FE91}\u{FEF4}\u{FE96}")
        let marked = Array(ArabicLetters.joined("بَيت").unicodeScalars.map(\.value))
        #expect(marked == [0xFE91, 0x64E, 0xFEF4, 0xFE96])
        #expect(ArabicLetters.joined("rent") == "rent")
    }

    @Test(
        "words from right to left stand so, and numbers, Latin words and brackets as they are read",
        arguments: [
            ("rent", "rent"), ("שלום", "םולש"), ("rent שלום עולם paid", "rent םלוע םולש paid"),
            ("שלום 1,234 עולם", "םלוע 1,234 םולש"), ("(שלום) a", "(םולש) a"), ("א(ב)ג", "ג(ב)א"), ("שלום.", "םולש."),
        ]
    )
    func order(text: String, shown: String) {
        #expect(DrawnText.visual(text) == shown)
    }

    @Test("a reader finds a box in the file for each letter that is none there")
    func file() async throws {
        var document = Document(title: "Receipt", fields: [], note: "Made for a test")
        document.fields.append(Document.Field("For", "Happy birthday 🎉🎂 from us, 𝐀𝐁𝐂 rent"))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).pdf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(try await PDFRenderer().render(document, for: "ada")).write(to: file)
        let text = try await Command.run("pdftotext", ["-q", "-layout", "-enc", "UTF-8", file.path, "-"])
        #expect(text.contains("Happy birthday □□ from us, ABC rent"))
    }
}
