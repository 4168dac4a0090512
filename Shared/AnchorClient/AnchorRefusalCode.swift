/// What a refusal is about, read from the provider's words, which may change: decide on the status and use this to tell
/// a person or an operator more.
public enum AnchorRefusalCode: String, Sendable, Hashable, CaseIterable {
    /// A customer with this e-mail address exists.
    case alreadyExists = "already_exists"
    /// The customer's identification is not approved (412).
    case verificationRequired = "verification_required"
    /// The product does not fit the customer or is switched off.
    case productNotAllowed = "product_not_allowed"
    /// The sending account does not cover the amount.
    case insufficientFunds = "insufficient_funds"
    /// A transfer with this reference exists.
    case duplicateReference = "duplicate_reference"
    /// The phone number is not 11 digits in local form.
    case invalidPhoneNumber = "invalid_phone_number"
    /// The reason is blank or too long.
    case invalidReason = "invalid_reason"
    /// An order to move money was refused in words that may tell of an earlier one, or without any.
    case doubtful
    /// Another 409.
    case conflict
    /// Another 412.
    case precondition
    /// Anything else.
    case other

    /// Words that may tell of an order that was taken before.
    private static let wordsOfEarlier = [
        "already", "duplicate", "exist", "idempoten", "reference", "process", "progress", "previous", "earlier",
    ]

    /// Whether it may tell of an earlier request that was taken.
    var mayTellOfEarlier: Bool {
        switch self {
        case .alreadyExists, .duplicateReference, .doubtful, .conflict: true
        case .verificationRequired, .productNotAllowed, .insufficientFunds, .invalidPhoneNumber, .invalidReason,
            .precondition, .other:
            false
        }
    }

    /// `movesMoney`: what was refused is an order, of which nothing may be read into words that are not understood.
    init(status: Int, text: String, movesMoney: Bool = false) {
        let text = text.lowercased()
        let holds = { (words: String) in text.contains(words) }
        if holds("reference") && (holds("exist") || holds("duplicate")) {
            self = .duplicateReference
        } else if holds("already exist") {
            self = .alreadyExists
        } else if movesMoney, text.isEmpty || Self.wordsOfEarlier.contains(where: { holds($0) }) {
            self = .doubtful
        } else if holds("kyc level") {
            self = .verificationRequired
        } else if holds("product") && (holds("not allowed") || holds("not eligible") || holds("not enabled")) {
            self = .productNotAllowed
        } else if holds("insufficient") {
            self = .insufficientFunds
        } else if holds("phonenumber") {
            self = .invalidPhoneNumber
        } else if holds("reason") {
            self = .invalidReason
        } else if status == 409 {
            self = .conflict
        } else {
            self = status == 412 ? .precondition : .other
        }
    }
}
