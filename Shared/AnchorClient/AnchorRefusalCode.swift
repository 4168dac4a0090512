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
    /// Another 409.
    case conflict
    /// Another 412.
    case precondition
    /// Anything else.
    case other

    init(status: Int, text: String) {
        let text = text.lowercased()
        let holds = { (words: String) in text.contains(words) }
        if holds("reference") && (holds("exist") || holds("duplicate")) {
            self = .duplicateReference
        } else if holds("already exist") {
            self = .alreadyExists
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
