/// Why an operator orders something: a code, for it travels in an event and must not be free text.
enum ReasonCode {
    /// The reason, when it is a code.
    static func checked(_ text: String) throws(FieldProblem) -> String {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isCodeUnit) else {
            throw FieldProblem(pointer: "/reason", rule: .reason)
        }
        return text
    }

    private static func isCodeUnit(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit)
            || unit == UInt8(ascii: "_")
    }
}
