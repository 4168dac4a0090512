/// An operator's order about how far a user was identified, which decides the user's limits.
struct TierOrder: Hashable, Sendable {
    let tier: Int
    /// A code.
    let reason: String

    static let tiers = 1...3

    /// Checks an order.
    init(tier: Int, reason: String) throws(FieldProblem) {
        guard Self.tiers.contains(tier) else { throw FieldProblem(pointer: "/tier", rule: .tier) }
        self.tier = tier
        self.reason = try ReasonCode.checked(reason)
    }
}
