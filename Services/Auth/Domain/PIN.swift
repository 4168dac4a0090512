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
}

extension PIN: CustomStringConvertible, CustomReflectable {
    var description: String { "[redacted]" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
