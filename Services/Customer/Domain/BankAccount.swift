import Contracts

/// A bank account whose fields obey their rules.
///
/// Personal data.
struct BankAccount: Hashable, Sendable {
    /// Ten digits (NUBAN).
    let number: String
    /// The bank's NIP code, six digits.
    let bankCode: String

    /// Checks a request.
    init(checking request: BeneficiaryRequest) throws(FieldProblem) {
        guard Self.isDigits(request.accountNumber, count: 10) else {
            throw FieldProblem(pointer: "/account_number", rule: .accountNumber)
        }
        guard Self.isDigits(request.bankCode, count: 6) else {
            throw FieldProblem(pointer: "/bank_code", rule: .bankCode)
        }
        self.number = request.accountNumber
        self.bankCode = request.bankCode
    }

    /// What the blind index is computed over: the same number at two banks is two accounts.
    var indexText: String { "\(self.bankCode):\(self.number)" }

    /// A number as it may be shown.
    static func masked(_ number: String) -> String { "******\(number.suffix(4))" }

    private static func isDigits(_ text: String, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
