import Foundation
import ObjectStorage
import Primitives

/// A request for money as a person writes it, checked as far as that needs no database.
struct PaymentRequestDraft: Sendable, Equatable {
    /// Nil: the payer chooses.
    let amount: Int64?
    /// Nil: whoever has the link.
    let payer: String?
    let description: String?
    /// The owner's number of the sale.
    let reference: String?
    /// Nil: the usual time.
    let expiresAt: Date?
    /// Whether it may be paid again and again.
    let isMultiple: Bool

    /// - Throws: `FieldProblem` for the first field that breaks a rule.
    init(
        amount: Int64?,
        payer: String?,
        description: String?,
        reference: String? = nil,
        expiresAt: String?,
        isMultiple: Bool = false
    ) throws(FieldProblem) {
        if isMultiple, payer != nil {
            throw FieldProblem(pointer: "/multiple", detail: "A request to one person is paid once.")
        }
        self.isMultiple = isMultiple
        if let amount, amount <= 0 {
            throw FieldProblem(pointer: "/amount", detail: "The amount is in kobo and must be greater than zero.")
        }
        self.amount = amount
        self.payer = try Self.username(payer)
        self.description = try MoneyDropDraft.text(description, at: "/description")
        if let reference, !Self.isReference(reference) {
            throw FieldProblem(pointer: "/reference", detail: Self.referenceRule)
        }
        self.reference = reference
        guard let expiresAt else {
            self.expiresAt = nil
            return
        }
        guard let expiry = Timestamp.parse(expiresAt) else {
            throw FieldProblem(pointer: "/expires_at", detail: "Send RFC 3339, as in 2026-11-21T01:07:05Z.")
        }
        self.expiresAt = expiry
    }

    /// What a reference is made of.
    static let referenceRule = "A reference has 1 to 40 letters, digits, dots, underscores, slashes and hyphens."

    /// Whether a text may be a reference: no free text, which would have to be sealed.
    static func isReference(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789._/-".unicodeScalars.contains($0))
            }
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
    let reference: String?
    /// The image that is shown.
    let image: ImageKey?
    let state: String
    /// Whether it may be paid again and again until it ends.
    let isMultiple: Bool
    /// What has arrived.
    let paidCount: Int64
    let paidTotal: Int64
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
    case askedTooOften = "asked_too_often"
    case expiryInvalid = "expiry_invalid"
    case tooManyOpen = "too_many_requests_open"
    case unknown = "request_unknown"
    case inPayment = "request_in_payment"
    case paid = "request_paid"
    case expired = "request_expired"
    case declined = "request_declined"
}
