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
        guard !Self.reserved.contains(text) else { throw FieldProblem(pointer: pointer, rule: .reservedUsername) }
        self.text = text
    }

    /// Names that would pass for the company, for staff or for a path.
    static let reserved: Set<String> = [
        "about", "account", "accounts", "admin", "administrator", "anchor", "api", "bank", "billing", "cbn",
        "compliance",
        "console", "fees", "finance", "fraud", "help", "helpdesk", "internal", "legal", "login", "moneydrop", "nobody",
        "null", "official", "operator", "payment", "payments", "payroll", "postmaster", "privacy", "refund", "refunds",
        "root", "security", "settings", "staff", "status", "superuser", "support", "system", "team", "transfa",
        "transfaapp", "transfahelp", "transfasupport", "treasury", "undefined", "verify", "wallet", "webhook",
        "webmaster",
        "www",
    ]
}
