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
        guard !Self.isReserved(text) else { throw FieldProblem(pointer: pointer, rule: .reservedUsername) }
        self.text = text
    }

    // MARK: Look-alikes

    /// What a name looks like at a glance: names with one skeleton are taken for one another (`adaI` and `adal`, `bo1a`
    /// and `bola`), so only one of them is given out.
    ///
    /// The database computes the same in `username_skeleton`.
    var skeleton: String { Self.skeleton(self.text) }

    private static func skeleton(_ text: String) -> String {
        let joined = text.replacing("rn", with: "m").replacing("vv", with: "w")
        return String(joined.map { Self.lookalikes[$0] ?? $0 })
    }

    private static let lookalikes: [Character: Character] = [
        "0": "o", "1": "l", "i": "l", "2": "z", "5": "s", "8": "b",
    ]

    /// Digits that only stand for letters where nobody expects a digit: enough to refuse a reserved name, too much to
    /// keep `ada3` from somebody because of `adae`.
    private static let spellings: [Character: Character] = ["3": "e", "4": "a", "6": "g", "7": "t", "9": "g"]

    private static func reading(_ text: String) -> String {
        String(Self.skeleton(String(text.map { Self.spellings[$0] ?? $0 })))
    }

    // MARK: Reserved names

    private static func isReserved(_ text: String) -> Bool {
        let reading = Self.reading(text)
        return Self.reservedReadings.contains(reading) || Self.reservedParts.contains { reading.contains($0) }
    }

    private static let reservedReadings = Set(Self.reserved.map(Self.reading))
    /// Nobody but the company has its name in theirs.
    private static let reservedParts = ["transfa"].map(Self.reading)

    /// Names that would pass for the company, for staff, for a bank or for a path.
    static let reserved: Set<String> = [
        "about", "account", "accounts", "admin", "administrator", "anchor", "api", "bank", "billing", "cbn",
        "compliance", "console", "customercare", "efcc", "fees", "finance", "fraud", "help", "helpdesk", "internal",
        "legal", "login", "moderator", "moneydrop", "ndic", "nibss", "nobody", "null", "official", "operator",
        "payment", "payments", "payroll", "postmaster", "privacy", "refund", "refunds", "root", "security", "settings",
        "staff", "status", "superuser", "support", "system", "team", "transfa", "transfaapp", "transfahelp",
        "transfasupport", "treasury", "undefined", "verify", "wallet", "webhook", "webmaster", "www",
        "accessbank", "ecobank", "fcmb", "fidelitybank", "firstbank", "flutterwave", "gtbank", "interswitch", "kuda",
        "moniepoint", "opay", "palmpay", "paypal", "paystack", "polarisbank", "providus", "stanbic", "sterlingbank",
        "uba", "unionbank", "wemabank", "zenithbank",
    ]
}
