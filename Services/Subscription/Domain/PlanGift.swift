import Foundation
import Primitives

/// An operator's order to give a user a plan.
struct PlanGift: Hashable, Sendable {
    let plan: Plan
    /// Whole milliseconds, as the event carries it.
    let until: Date

    /// Checks an order.
    init(plan: String, until: String, now: Date) throws(FieldProblem) {
        self.plan = try Plan(paid: plan)
        guard let moment = Timestamp.parse(until) else { throw FieldProblem(pointer: "/until", rule: .moment) }
        guard moment > now else { throw FieldProblem(pointer: "/until", rule: .future) }
        self.until = Date(millisecondsSince1970: moment.millisecondsSince1970)
    }
}
