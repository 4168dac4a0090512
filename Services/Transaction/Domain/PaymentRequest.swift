import Foundation
import Primitives

/// A request for money as a person writes it, checked as far as that needs no database.
struct PaymentRequestDraft: Sendable, Equatable {
    /// Nil: the payer chooses.
    let amount: Int64?
    /// Nil: whoever has the link.
    let payer: String?
    let description: String?
    /// Nil: the usual time.
    let expiresAt: Date?

    /// - Throws: `FieldProblem` for the first field that breaks a rule.
    init(amount: Int64?, payer: String?, description: String?, expiresAt: String?) throws(FieldProblem) {
        if let amount, amount <= 0 {
            throw FieldProblem(pointer: "/amount", detail: "The amount is in kobo and must be greater than zero.")
        }
        self.amount = amount
        self.payer = try Self.username(payer)
        self.description = try MoneyDropDraft.text(description, at: "/description")
        guard let expiresAt else {
            self.expiresAt = nil
            return
        }
        guard let expiry = Timestamp.parse(expiresAt) else {
            throw FieldProblem(pointer: "/expires_at", detail: "Send RFC 3339, as in 2026-11-21T01:07:05Z.")
        }
        self.expiresAt = expiry
    }

    private static func username(_ name: String?) throws(FieldProblem) -> String? {
        guard let name else { return nil }
        guard let draft = try? PaymentDraft(recipient: name, amount: 1, description: nil) else {
            throw FieldProblem(pointer: "/payer_username", detail: "A username has 3 to 20 letters and digits.")
        }
        return draft.recipient
    }
}

/// A request for money as it stands.
struct PaymentRequest: Sendable {
    let id: UUID
    /// Where it stands in lists.
    let position: Int64
    let owner: UUID
    let payer: UUID?
    let amount: Int64?
    /// Sealed.
    let description: String?
    let link: String
    let state: String
    let transaction: UUID?
    let expiresAt: Date
    let createdAt: Date

    /// Whether a person may see and pay it: its two parties, or anybody who has the link of one that names nobody.
    ///
    /// A cancelled one is gone for all.
    func isVisible(to user: UserID) -> Bool {
        guard self.state != "cancelled" else { return false }
        return self.payer == nil || self.payer == user.uuid || self.owner == user.uuid
    }
}

/// Why a request is not made or ended: the ledger's words.
enum PaymentRequestRefusal: String, Error, CaseIterable {
    case ownerNotReady = "owner_not_ready"
    case ownerRestricted = "owner_restricted"
    case payerUnknown = "payer_unknown"
    case payerSelf = "payer_self"
    case payerTakesNoRequests = "requests_not_accepted"
    case expiryInvalid = "expiry_invalid"
    case tooManyOpen = "too_many_requests_open"
    case unknown = "request_unknown"
    case inPayment = "request_in_payment"
    case paid = "request_paid"
    case expired = "request_expired"
    case declined = "request_declined"
}
