import Foundation
import Primitives

/// A money drop as it stands, seen by one person.
struct MoneyDrop: Sendable {
    let id: UUID
    /// Where it stands in lists.
    let position: Int64
    let creator: UUID
    /// Sealed.
    let title: String?
    let amountPerClaim: Int64
    let slots: Int
    let state: String
    let endReason: String?
    let hasPassword: Bool
    let link: String
    let expiresAt: Date
    let createdAt: Date
    /// Slots that can be claimed now.
    let open: Int
    /// Slots that are claimed, on their way included.
    let taken: Int
    let refunded: Int
    /// How the viewer's own claim stands; nil when there is none.
    let claim: String?
    /// The transfer of the viewer's own claim.
    let claimTransaction: UUID?
}

/// One claim on a drop.
struct MoneyDropClaim: Sendable {
    let claimant: UUID
    let state: String
    let claimedAt: Date
}

/// Why a drop is not claimed or ended: the ledger's words.
enum MoneyDropRefusal: String, Error, CaseIterable {
    case claimantUnknown = "claimant_unknown"
    case claimantRestricted = "claimant_restricted"
    case passwordWrong = "password_wrong"
    case unknown = "drop_unknown"
    case own = "drop_own"
    case alreadyClaimed = "already_claimed"
    case pending = "drop_pending"
    case expired = "drop_expired"
    case exhausted = "drop_exhausted"
    case ended = "drop_ended"
    case paused = "drop_paused"
    case claimantNotReady = "claimant_not_ready"
    case recipientLimit = "recipient_limit"
    case recovering
}
