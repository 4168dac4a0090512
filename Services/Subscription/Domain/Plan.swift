/// A plan by its name.
struct Plan: Hashable, Sendable {
    let name: String

    /// What everybody has who pays nothing.
    static let free = Plan(stored: "free")

    /// Reads a name from storage, which holds only checked ones.
    init(stored name: String) { self.name = name }

    /// Checks the name of a plan that can be bought.
    init(paid name: String) throws(FieldProblem) {
        guard (1...32).contains(name.utf8.count), name != Self.free.name, name.utf8.allSatisfy(Self.isNameUnit) else {
            throw FieldProblem(pointer: "/plan", rule: .plan)
        }
        self.name = name
    }

    private static func isNameUnit(_ unit: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(unit) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(unit)
            || unit == UInt8(ascii: "_")
    }
}
