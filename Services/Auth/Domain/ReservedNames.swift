/// Names that would pass for the company, for its staff, for a bank, for an authority or for a path.
///
/// A name is read as a person reads it at a glance: digits for letters, separators left out. Then what people put around such
/// a word to pass for it is cut off at both ends (`realuba`, `gtbankcare`, `efccng`, `supp0rt24`). What is left decides, so
/// that a name in which such a word only happens to be (`Ubaka`, `Bankole`, `Adminah`) stays somebody's name.
enum ReservedNames {
    /// Whether nobody may have this name.
    static func contains(_ name: String) -> Bool {
        let plain = name.lowercased().filter { $0.isLetter || $0.isNumber }
        // Digits at the end may be letters or a number.
        return Self.isReserved(plain, mayBeShort: true)
            || Self.isReserved(String(Self.withoutNumber(plain)), mayBeShort: false)
    }

    private static func isReserved(_ plain: String, mayBeShort: Bool) -> Bool {
        let reading = Self.reading(plain)
        guard !Self.partReadings.contains(where: { reading.contains($0) }) else { return true }
        if mayBeShort, Self.wordReadings.contains(reading) { return true }
        return Self.cuts(of: reading).contains { cut in
            Self.markReadings.contains(cut) || (cut != reading && Self.shortMarkReadings.contains(cut))
        }
    }

    /// A name and what is left of it when words that people put around another are cut off, in every way.
    private static func cuts(of reading: String) -> Set<String> {
        var found: Set<String> = [reading]
        var open = [reading]
        while let text = open.popLast() {
            for affix in Self.affixReadings where text.count > affix.count {
                var shorter: [Substring] = []
                if text.hasPrefix(affix) { shorter.append(text.dropFirst(affix.count)) }
                if text.hasSuffix(affix) { shorter.append(text.dropLast(affix.count)) }
                for rest in shorter.map(String.init) where found.insert(rest).inserted { open.append(rest) }
            }
        }
        return found
    }

    private static func withoutNumber(_ plain: String) -> Substring {
        plain.prefix(upTo: plain.lastIndex(where: \.isLetter).map(plain.index(after:)) ?? plain.startIndex)
    }

    // MARK: Reading

    /// Digits that only stand for letters where nobody expects a digit: enough to refuse a reserved name, too much to
    /// keep `ada3` from somebody because of `adae`.
    private static let spellings: [Character: Character] = ["3": "e", "4": "a", "6": "g", "7": "t", "9": "g"]

    private static func reading(_ text: String) -> String {
        Username.skeleton(String(text.map { Self.spellings[$0] ?? $0 }))
    }

    private static let wordReadings = Set((Self.words + Self.shortMarks + Self.marks).map(Self.reading))
    private static let markReadings = Set(Self.marks.map(Self.reading))
    private static let shortMarkReadings = Set(Self.shortMarks.map(Self.reading))
    private static let partReadings = Set(Self.parts.map(Self.reading))
    private static let affixReadings = Set(Self.affixes.map(Self.reading))

    // MARK: Words

    /// All words, as somebody would type them.
    static var all: [String] { Self.words + Self.shortMarks + Self.marks + Self.parts }

    /// Whole names that nobody may have: paths, and words for what we do.
    static let words = [
        "about", "account", "accounts", "api", "bank", "banks", "billing", "console", "everyone", "fees", "finance",
        "fraud", "help", "internal", "legal", "login", "moneydrop", "nobody", "null", "official", "payment", "payments",
        "payroll", "privacy", "refund", "refunds", "reserved", "root", "sandbox", "settings", "settlement", "status",
        "system", "team", "treasury", "undefined", "unknown", "verify", "verified", "wallet", "webhook", "www",
    ]

    /// Short names that are people's names or words too: refused alone, and with such words around them, not with a number.
    static let shortMarks = [
        "access", "agent", "army", "cac", "carbon", "fcmb", "fidelity", "gtb", "kuda", "opay", "paga", "polaris", "sec",
        "taj",
        "uba", "verve", "zenith",
    ]

    /// Staff, authorities and banks: refused also with words around them.
    static let marks = [
        // Staff, and who keeps a system going.
        "abuse", "admin", "administrator", "anchor", "compliance", "customercare", "customerservice", "helpdesk",
        "moderator", "operator", "postmaster", "security", "staff", "superuser", "support", "sysadmin", "webmaster",
        "zenithcare",
        // Authorities.
        "cbn", "customs", "dss", "efcc", "fccpc", "firs", "frsc", "icpc", "immigration", "inec", "interpol",
        "nafdac", "ncc", "ndic", "ndlea", "nfiu", "nibss", "nimc", "npf", "nscdc", "police", "presidency",
        "centralbank", "nigeriapolice", "naira",
        // Banks, wallets and payment companies.
        "accessbank", "alat", "citibank", "ecobank", "fairmoney", "fidelitybank",
        "firstbank", "flutterwave", "gtbank", "heritagebank", "interswitch", "jaizbank", "keystonebank", "kudabank",
        "moniepoint", "monnify", "ubabank", "ubagroup", "opaybank", "optimusbank", "palmpay", "paypal", "paystack",
        "polarisbank", "premiumtrust", "providus", "providusbank", "quickteller", "remita", "stanbic",
        "stanbicibtc", "sterlingbank", "suntrust", "tajbank", "titantrust", "unionbank", "unitybank", "vbank",
        "wema", "wemabank", "zenithbank",
    ]

    /// Nobody has these anywhere in their name: the company's own, and words that are in no person's name.
    static let parts = [
        "transfa", "customercare", "customersupport", "flutterwave", "helpdesk", "interswitch", "moniepoint",
    ]

    /// What people put before or behind a word to pass for it.
    static let affixes = [
        "account", "accounts", "agent", "alert", "alerts", "app", "bank", "bot", "care", "chat", "contact", "customer",
        "desk",
        "dept", "digital", "fraud", "group", "help", "helpline", "hotline", "hq", "info", "line", "live", "lagos",
        "mobile",
        "naija", "ng", "nig", "nigeria", "office", "officer", "official", "online", "pay", "payment", "payments", "plc",
        "real",
        "recovery", "refund", "refunds", "service", "services", "support", "team", "the", "unit", "verify", "verified",
    ]
}
