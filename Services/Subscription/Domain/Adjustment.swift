import Foundation
import Primitives

/// A correction of the count of free external transfers, in the month in which it is made.
struct Adjustment: Hashable, Sendable {
    let id: UUID
    let user: UserID
    let month: UsageMonth
    let delta: Int

    /// How much one correction may change.
    static let range = -100...100

    /// Checks a correction.
    init(id: UUID, user: UserID, delta: Int, now: Date) throws(FieldProblem) {
        guard delta != 0, Self.range.contains(delta) else { throw FieldProblem(pointer: "/delta", rule: .delta) }
        self.init(id: id, user: user, month: UsageMonth(at: now), delta: delta)
    }

    /// Puts together what was checked.
    init(id: UUID, user: UserID, month: UsageMonth, delta: Int) {
        self.id = id
        self.user = user
        self.month = month
        self.delta = delta
    }
}
