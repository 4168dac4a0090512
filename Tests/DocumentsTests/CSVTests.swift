import Documents
import Testing

@Suite("Comma-separated values")
struct CSVTests {
    @Test("a line ends with CR LF, and commas, quotes and line ends are kept inside quotes")
    func quoting() {
        #expect(CSV.line(["a", "", "1.50"]) == "a,,1.50\r\n")
        #expect(CSV.line(["a,b", "say \"hi\"", "x\ny"]) == "\"a,b\",\"say \"\"hi\"\"\",\"x\ny\"\r\n")
    }

    @Test(
        "no cell begins like a formula",
        arguments: ["=1+1", "+1", "-1+1", "-", "@SUM(A1)", "\tx", "\rx", "\nx", "=cmd|' /C calc'!A0"]
    )
    func formula(text: String) {
        let line = CSV.line([text])
        #expect(line.hasPrefix("'\(text)") || line.hasPrefix("\"'\(text.prefix(1))"))
    }

    @Test("a number below zero is a number", arguments: ["-1", "-1234.50", "0.00"])
    func number(text: String) {
        #expect(CSV.line([text]) == "\(text)\r\n")
    }
}
