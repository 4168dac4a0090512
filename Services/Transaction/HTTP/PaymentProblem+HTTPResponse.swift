import ServiceKit

extension PaymentProblem: APIErrorConvertible {
    /// 400 with the pointer.
    var apiError: APIError {
        switch self {
        case .recipientMalformed:
            .invalid("/recipient_username", detail: "A username has 3 to 20 letters and digits.")
        case .amountNotPositive:
            .invalid("/amount", detail: "The amount is in kobo and must be greater than zero.")
        case .descriptionTooLong:
            .invalid("/description", detail: "At most \(PaymentDraft.maximumDescription) characters.")
        case .descriptionNotPrintable:
            .invalid("/description", detail: "One line, all of which shows.")
        }
    }
}

extension FieldProblem: APIErrorConvertible {
    /// 400 with the pointer.
    var apiError: APIError { .invalid(self.pointer, detail: self.detail) }
}

extension OrderOverload: APIErrorConvertible {
    /// 503: nothing happened, the same key may be sent again.
    var apiError: APIError { .unavailable("overloaded") }
}
