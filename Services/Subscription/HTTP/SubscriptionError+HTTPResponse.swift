import ServiceKit

extension SubscriptionError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .adjustmentDiffers:
            .conflict(
                "adjustment_differs",
                detail: "This id was used for another correction.",
                source: .pointer("/adjustment_id")
            )
        case .notOnboarded: .notOnboarded
        case .approvalUsed:
            .forbidden("approval_used", detail: "This approval was already used. Approve again.")
        case .planUnknown:
            .refused("plan_unknown", detail: "This plan is not sold.", source: .pointer("/plan"))
        case .priceChanged:
            .refused("price_changed", detail: "The plan has another price now.", source: .pointer("/price"))
        case .chargePending:
            .passing("charge_pending", detail: "A payment for your plan is under way. Try again in a moment.", after: 5)
        case .periodPaid:
            .refused("period_paid", detail: "A period that begins today was paid already.")
        case .notSubscribed:
            .refused("not_subscribed", detail: "There is no plan to end.").notKept()
        }
    }
}

extension FieldProblem: APIErrorConvertible {
    /// 400 with the place and the rule.
    var apiError: APIError { .invalid(self.pointer, detail: self.rule.sentence) }
}
