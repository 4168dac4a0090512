/// The banks of the stand-in.
struct SandboxBank: Sendable {
    var id: String
    var name: String
    var nipCode: String

    static let all: [SandboxBank] = [
        ("Access Bank", "000014"), ("Guaranty Trust Bank", "000013"), ("Zenith Bank", "000015"),
        ("United Bank for Africa", "000004"), ("First Bank of Nigeria", "000016"), ("Wema Bank", "000017"),
        ("Providus Bank", "000023"), ("Kuda Microfinance Bank", "090267"), ("OPay", "100004"),
        ("Corestep Microfinance Bank", "090365"),
    ]
    .enumerated()
    .map { SandboxBank(id: "\(1_640_000_000_000 + $0.offset)-anc_bk", name: $0.element.0, nipCode: $0.element.1) }

    /// By NIP code or id.
    static func find(_ codeOrID: String) -> SandboxBank? {
        Self.all.first { $0.nipCode == codeOrID || $0.id == codeOrID }
    }

    /// The name a bank gives for a number where tests have said nothing; nil where there is no account.
    ///
    /// Inventions of this stand-in: numbers that end in 0000 are nobody's, those that end in 9989 somebody else's, and
    /// every other account is in the names of all whom tests invent, since it is not said who asks.
    static func accountName(of number: String) -> String? {
        guard number.utf8.count == 10, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !number.hasSuffix("0000")
        else { return nil }
        return number.hasSuffix("9989") ? "SOMEBODY ELSE" : "ADA ADAEZE BOLA OKONKWO TESTPERSON OF INVENTED SHOP"
    }
}
