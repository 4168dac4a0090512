/// A PIN as it was typed; its text forms show nothing.
struct PIN: Sendable {
    /// 4 to 6 digits.
    let digits: String

    /// Checks a PIN.
    init(_ typed: String, pointer: String) throws(FieldProblem) {
        guard (4...6).contains(typed.utf8.count), typed.utf8.allSatisfy(\.isDigit) else {
            throw FieldProblem(pointer: pointer, rule: .pin)
        }
        self.digits = typed
    }

    /// Checks a PIN that somebody chooses: those that everybody guesses first are none.
    init(chosen: String, pointer: String) throws(FieldProblem) {
        try self.init(chosen, pointer: pointer)
        guard !Self.isGuessed(chosen), !Self.favourites.contains(chosen) else {
            throw FieldProblem(pointer: pointer, rule: .guessablePIN)
        }
    }

    /// One digit or one pair or three digits again and again, and digits that count up or down.
    private static func isGuessed(_ chosen: String) -> Bool {
        let digits = Array(chosen.utf8)
        let isRepeated = (1...3).contains { length in
            digits.count.isMultiple(of: length) && length < digits.count
                && digits.indices.allSatisfy { digits[$0] == digits[$0 % length] }
        }
        let steps = Set(zip(digits, digits.dropFirst()).map { Int($1) - Int($0) })
        return isRepeated || steps == [1] || steps == [-1]
    }

    /// Others that are chosen again and again: years, keys in a line or a corner of the pad.
    private static let favourites: Set = [
        "1004", "1122", "2000", "2001", "2580", "0852", "5683", "112233", "147258", "159753",
    ]
}

extension PIN: CustomStringConvertible, CustomReflectable {
    var description: String { "[redacted]" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
