/// The name by which a user is paid: 3 to 20 ASCII letters and digits, kept in lower case.
struct Username: Hashable, Sendable {
    /// In lower case.
    let text: String

    /// Checks a name as it was typed.
    init(_ typed: String, pointer: String = "/username") throws(FieldProblem) {
        // ASCII only, by bytes: look-alikes from other alphabets are how people get paid by mistake.
        guard (3...20).contains(typed.utf8.count), typed.utf8.allSatisfy(\.isLetterOrDigit) else {
            throw FieldProblem(pointer: pointer, rule: .username)
        }
        let text = typed.lowercased()
        guard !ReservedNames.contains(text) else { throw FieldProblem(pointer: pointer, rule: .reservedUsername) }
        self.text = text
    }

    // MARK: Look-alikes

    /// What a name looks like at a glance: names with one skeleton are taken for one another (`adaI` and `adal`, `bo1a`
    /// and `bola`), so only one of them is given out.
    ///
    /// The database computes the same in `username_skeleton`.
    var skeleton: String { Self.skeleton(self.text) }

    /// What a text looks like at a glance.
    static func skeleton(_ text: String) -> String {
        let joined = text.replacing("rn", with: "m").replacing("vv", with: "w")
        return String(joined.map { Self.lookalikes[$0] ?? $0 })
    }

    private static let lookalikes: [Character: Character] = [
        "0": "o", "1": "l", "i": "l", "2": "z", "5": "s", "8": "b",
    ]
}
