import Primitives
import Testing

@Suite("names of operators")
struct OperatorNameTests {
    @Test("one person has one spelling", arguments: ["ada", "Ada", "ADA", " ada", "aDa  "])
    func canonical(_ text: String) {
        #expect(OperatorName.canonical(text) == "ada")
    }

    @Test(
        "what identity providers and people call somebody is a name",
        arguments: ["user_2ab", "a.b-c@example.com", "0"]
    )
    func kept(_ text: String) {
        #expect(OperatorName.canonical(text) == text)
    }

    @Test(
        "a text that looks like another person's name, or like none, is refused",
        arguments: [
            "", "  ", "a da", "ada,bola", "ad\u{430}", "\u{212A}ofi", "ada\u{a0}", "ada\n",
            String(repeating: "a", count: 65),
        ]
    )
    func refused(_ text: String) {
        #expect(OperatorName.canonical(text) == nil)
    }
}
