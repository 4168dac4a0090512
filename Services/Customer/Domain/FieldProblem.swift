/// A field of a request that breaks a rule.
///
/// It never holds the value.
struct FieldProblem: Error, Hashable, Sendable {
    /// JSON pointer into the body.
    let pointer: String
    /// The rule.
    let rule: FieldRule
}

/// The rules that fields obey.
enum FieldRule: String, Hashable, Sendable, CaseIterable {
    case accountNumber
    case bankCode
    case receivingPreference
    case whoMayRequest
    case restriction
    case tier
    case reason

    /// What the rule asks for, as one sentence to a person.
    var sentence: String {
        switch self {
        case .accountNumber: "An account number has ten digits."
        case .bankCode: "A bank code has six digits."
        case .receivingPreference: "A receiving preference is external or wallet."
        case .whoMayRequest: "Who may request is everyone, contacts or nobody."
        case .restriction: "A restriction is none, post_no_debit, frozen or closed."
        case .tier: "A tier is 1, 2 or 3."
        case .reason: "A reason is a code of lower-case letters, digits and underscores."
        }
    }
}
