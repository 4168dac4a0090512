import Foundation
import Primitives
import Testing

@Suite("texts of people")
struct PersonTextTests {
    private func kept(_ written: String, _ length: ClosedRange<Int> = 1...140) -> Result<String, PersonText.Problem> {
        Result { () throws(PersonText.Problem) in try PersonText.checked(written, length) }
    }

    /// Code points, for Swift takes what is equivalent for equal.
    private func points(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

    @Test(
        "what people write is kept as it is",
        arguments: [
            "Rent for May", "N 5,000 — thank you! (2/3)", "Ẹ ṣé, ọ̀rẹ́ mi", "Ina kwana ɗan'uwa", "Ụtụtụ ọma",
            "شكرا جزيلا",
            "می‌خواهم", "क्‍ष बाक्‌स", "র‍্যাব", "👨‍👩‍👧", "👩🏽‍🚀", "❤️‍🔥", "🏳️‍🌈", "1️⃣ + 2️⃣", "🇳🇬", "𞤀𞤣𞤤𞤢𞤥", "日本語のテキスト", "ไม่เป็นไร",
            "נִקּוּד", "\u{2068}أداما\u{2069} paid", "a\u{a0}b",
        ]
    )
    func good(written: String) throws {
        #expect(self.points(try self.kept(written).get()) == self.points(written.precomposedStringWithCanonicalMapping))
    }

    @Test("what looks the same is kept as the same: composed, and without blanks around it")
    func form() throws {
        for written in ["Ade\u{301}", "Ad\u{e9}", " Ad\u{e9}\u{a0}", "\tAde\u{301}\n", "\u{3000}Ad\u{e9}"] {
            #expect(self.points(try self.kept(written).get()) == [0x41, 0x64, 0xe9])
        }
        // The sign for ohm is the letter.
        #expect(self.points(try self.kept("\u{2126}").get()) == [0x3a9])
    }

    @Test(
        "what does not show, or changes how others are shown, is refused",
        arguments: [
            "a\u{0}b", "a\nb", "a\tb", "a\u{7f}b", "a\u{85}b", "a\u{2028}b", "a\u{2029}b",
            // Hidden
            "a\u{200b}b", "a\u{ad}b", "\u{feff}a", "a\u{2060}b", "a\u{e0061}", "a\u{3164}b", "a\u{115f}", "a\u{34f}b",
            "a\u{e000}", "a\u{f8ff}", "a\u{180f}", "a\u{180e}b",
            // Direction
            "a\u{202e}b", "a\u{202d}b\u{202c}", "a\u{202a}b\u{202c}", "a\u{2067}b", "a\u{2069}", "\u{2069}a\u{2066}",
            "a\u{200e}b",
            String(repeating: "\u{2067}", count: 5) + "a" + String(repeating: "\u{2069}", count: 5),
            // Joiners that join nothing
            "a\u{200d}b", "a\u{200c}b", "\u{200d}a", "a\u{200d}", "👨\u{200d}", "👨\u{200d}a", "1\u{200d}👨", "م\u{200c}",
            // Marks
            "a" + String(repeating: "\u{300}\u{316}", count: 4), "\u{301}a", " \u{301}",
            // Nothing to be seen
            "\u{2800}", "\u{2066}\u{2069}", "\u{2066} \u{2069}",
        ]
    )
    func bad(written: String) {
        #expect(self.kept(written) == .failure(.notShown))
    }

    @Test("the length is that of what is kept, in code points, and what is far too long is not read")
    func length() {
        #expect(self.kept("  abc  ", 3...3) == .success("abc"))
        #expect(self.kept("abcd", 1...3) == .failure(.length) && self.kept("ab", 3...9) == .failure(.length))
        #expect(self.kept(String(repeating: "e\u{301}", count: 10), 10...10) != .failure(.length))
        #expect(self.kept("", 0...3) == .success("") && self.kept(" \u{a0}", 0...3) == .success(""))
        #expect(self.kept("", 1...3) == .failure(.length) && self.kept("   ", 1...3) == .failure(.length))
        #expect(self.kept(String(repeating: "😀", count: 140)) == .success(String(repeating: "😀", count: 140)))
        #expect(self.kept(String(repeating: " ", count: 1_000_000) + "a", 0...10) == .failure(.length))
        #expect(self.kept("e" + String(repeating: "\u{301}", count: 30_000)) == .failure(.length))
    }

    @Test("as many marks on a letter as languages need are taken, and no more")
    func marks() {
        for count in [PersonText.mostMarks, PersonText.mostMarks + 1] {
            let isTaken = count == PersonText.mostMarks
            let text = "q" + String(repeating: "\u{323}", count: count)
            #expect((self.kept(text) == .failure(.notShown)) == !isTaken)
        }
    }
}
