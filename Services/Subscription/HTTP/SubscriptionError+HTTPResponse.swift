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
        }
    }
}

extension FieldProblem: APIErrorConvertible {
    /// 400 with the place and the rule.
    var apiError: APIError { .invalid(self.pointer, detail: self.rule.sentence) }
}
