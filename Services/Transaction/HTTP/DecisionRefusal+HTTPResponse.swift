import ServiceKit

extension DecisionRefusal: APIErrorConvertible {
    /// 403, 404 or 409.
    var apiError: APIError {
        let code = self.rawValue
        return switch self {
        case .missing: .notFound
        case .sameOperator: .forbidden(code, detail: "Another operator has to approve.")
        case .notUnknown: .conflict(code, detail: "Only an unknown transfer can be settled by operators.")
        case .notReversible: .conflict(code, detail: "Only what the provider has completed can be booked as reversed.")
        case .alreadyProposed: .conflict(code, detail: "Another proposal is open; approve or withdraw it first.")
        case .decided: .conflict(code, detail: "It was decided before, or has expired.")
        case .expired: .conflict(code, detail: "Nobody approved it in time; propose it again.")
        case .recovering: .conflict(code, detail: "A recovery is open; end it first.")
        case .overtaken: .conflict(code, detail: "The transfer has moved on since; look at it again.")
        }
    }
}
