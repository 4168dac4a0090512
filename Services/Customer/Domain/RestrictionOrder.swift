import Contracts

/// An operator's order to narrow or widen what a user may do.
struct RestrictionOrder: Hashable, Sendable {
    let restriction: Restriction
    /// A code.
    let reason: String

    /// Checks an order.
    init(restriction: String, reason: String) throws(FieldProblem) {
        guard let known = Restriction(rawValue: restriction) else {
            throw FieldProblem(pointer: "/restriction", rule: .restriction)
        }
        self.restriction = known
        self.reason = try ReasonCode.checked(reason)
    }
}
