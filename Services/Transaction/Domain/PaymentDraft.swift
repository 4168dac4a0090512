import Primitives

/// A payment as a person asks for it, checked as far as that needs no database.
struct PaymentDraft: Sendable, Equatable {
    let recipient: String
    let amount: Money
    let description: String?

    static let usernameLength = 3...20
    static let maximumDescription = 140

    /// - Throws: `PaymentProblem` for the first thing that is wrong.
    init(recipient: String, amount: Int64, description: String?) throws(PaymentProblem) {
        let name = recipient.hasPrefix("@") ? String(recipient.dropFirst()) : recipient
        guard Self.usernameLength.contains(name.utf8.count), name.utf8.allSatisfy(Self.isAlphanumeric) else {
            throw .recipientMalformed
        }
        guard amount > 0 else { throw .amountNotPositive }
        self.recipient = name.lowercased()
        self.amount = Money(kobo: amount)
        self.description = try Self.checked(description)
    }

    /// What people write for each other, in its kept form; nothing and an empty text are the same.
    static func checked(_ description: String?) throws(PaymentProblem) -> String? {
        guard let description else { return nil }
        do throws(PersonText.Problem) {
            let text = try PersonText.checked(description, 0...Self.maximumDescription)
            return text.isEmpty ? nil : text
        } catch {
            switch error {
            case .length: throw .descriptionTooLong
            case .notShown: throw .descriptionNotPrintable
            }
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// Why a payment cannot even be tried.
enum PaymentProblem: Error, Equatable, CaseIterable {
    case recipientMalformed
    case amountNotPositive
    case descriptionTooLong
    case descriptionNotPrintable
}
