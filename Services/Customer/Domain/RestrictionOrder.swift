import Contracts

/// An operator's order to narrow or widen what a user may do.
struct RestrictionOrder: Hashable, Sendable {
    let restriction: Restriction
    /// A code: it travels in an event, so it must not be free text.
    let reason: String

    /// Checks an order.
    init(restriction: String, reason: String) throws(FieldProblem) {
        guard let known = Restriction(rawValue: restriction) else {
            throw FieldProblem(pointer: "/restriction", rule: .restriction)
        }
        guard (1...64).contains(reason.utf8.count), reason.utf8.allSatisfy(Self.isCodeUnit) else {
            throw FieldProblem(pointer: "/reason", rule: .reason)
        }
        self.restriction = known
        self.reason = reason
    }

    private static func isCodeUnit(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit)
            || unit == UInt8(ascii: "_")
    }
}
