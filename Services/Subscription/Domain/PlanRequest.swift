import Contracts
import Primitives

/// A person's order to subscribe whose fields obey their rules.
struct PlanRequest: Hashable, Sendable {
    let plan: Plan
    /// What the person saw; nil: any price.
    let price: Money?

    /// Checks a request.
    init(checking request: SubscriptionRequest) throws(FieldProblem) {
        self.plan = try Plan(paid: request.plan)
        if let price = request.price, price <= 0 { throw FieldProblem(pointer: "/price", rule: .price) }
        self.price = request.price.map { Money(kobo: $0) }
    }
}
