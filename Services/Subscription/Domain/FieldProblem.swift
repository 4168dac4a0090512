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
    case plan
    case price
    case future
    case moment
    case delta

    /// What the rule asks for, as one sentence to a person.
    var sentence: String {
        switch self {
        case .plan: "A paid plan is a word of lower-case letters, digits and underscores other than free."
        case .price: "A price is in kobo and greater than zero."
        case .future: "The moment must be in the future."
        case .moment: "A moment is written as in RFC 3339."
        case .delta: "A correction is between -100 and 100 and not 0."
        }
    }
}
