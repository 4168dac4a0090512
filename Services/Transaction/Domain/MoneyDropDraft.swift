import Foundation
import Primitives

/// A money drop as a person asks for it, checked as far as that needs no database.
struct MoneyDropDraft: Sendable, Equatable {
    let amountPerClaim: Money
    let slots: Int
    let total: Money
    let expiresAt: Date
    let title: String?
    let password: String?

    static let maximumSlots = 1000
    static let passwordLength = 4...64

    /// - Throws: `FieldProblem` for the first field that breaks a rule.
    init(
        amountPerClaim: Int64,
        slots: Int,
        expiresAt: String,
        title: String?,
        password: String?
    ) throws(FieldProblem) {
        guard amountPerClaim > 0 else {
            throw FieldProblem(
                pointer: "/amount_per_claim",
                detail: "The amount is in kobo and must be greater than zero."
            )
        }
        guard (1...Self.maximumSlots).contains(slots) else {
            throw FieldProblem(pointer: "/slots", detail: "From 1 to \(Self.maximumSlots).")
        }
        let (total, isTooLarge) = amountPerClaim.multipliedReportingOverflow(by: Int64(slots))
        guard !isTooLarge else {
            throw FieldProblem(pointer: "/amount_per_claim", detail: "All slots together are too much.")
        }
        guard let expiry = Timestamp.parse(expiresAt) else {
            throw FieldProblem(pointer: "/expires_at", detail: "Send RFC 3339, as in 2026-11-21T01:07:05Z.")
        }
        self.amountPerClaim = Money(kobo: amountPerClaim)
        self.slots = slots
        self.total = Money(kobo: total)
        self.expiresAt = expiry
        self.title = try Self.text(title, at: "/title")
        self.password = try Self.checked(password)
    }

    /// The rules of descriptions, for another field.
    static func text(_ text: String?, at pointer: String) throws(FieldProblem) -> String? {
        do {
            return try PaymentDraft.checked(text)
        } catch .descriptionTooLong {
            throw FieldProblem(pointer: pointer, detail: "At most \(PaymentDraft.maximumDescription) characters.")
        } catch {
            throw FieldProblem(pointer: pointer, detail: "One line, all of which shows.")
        }
    }

    /// What nobody can have chosen is not worth a hash.
    static func checkLength(ofOffered password: String?) throws(FieldProblem) {
        guard let password, !password.hasCodePoints(0...Self.passwordLength.upperBound) else { return }
        throw FieldProblem(pointer: "/password", detail: "At most \(Self.passwordLength.upperBound) characters.")
    }

    private static func checked(_ password: String?) throws(FieldProblem) -> String? {
        guard let password else { return nil }
        guard password.hasCodePoints(Self.passwordLength) else {
            throw FieldProblem(
                pointer: "/password",
                detail: "From \(Self.passwordLength.lowerBound) to \(Self.passwordLength.upperBound) characters."
            )
        }
        return Self.composed(password)
    }

    /// A password as it is hashed: phones write the same letters in more than one way.
    static func composed(_ password: String) -> String { password.precomposedStringWithCanonicalMapping }
}

/// A drop that is to be made, with what the service adds to the draft.
struct NewMoneyDrop: Sendable {
    /// Random, because who knows it may claim.
    let id: UUID
    let draft: MoneyDropDraft
    let passwordHash: String?
    let poolAccount: String
    let link: String

    private struct Details: Encodable {
        let amountPerClaim: Int64
        let slots: Int
        let expiresAt: String
        let poolAccount: String
        let link: String
        let passwordHash: String?
        let quote: QuoteTerms?
    }

    /// What `order_facts()` reads.
    func details(quote: QuoteTerms?) throws -> String {
        let details = Details(
            amountPerClaim: self.draft.amountPerClaim.kobo,
            slots: self.draft.slots,
            expiresAt: Timestamp.text(self.draft.expiresAt),
            poolAccount: self.poolAccount,
            link: self.link,
            passwordHash: self.passwordHash,
            quote: quote
        )
        return try OrderDetails.text(details)
    }
}
