import ServiceKit

extension PeriodProblem: APIErrorConvertible {
    /// 400 with the parameter.
    var apiError: APIError {
        switch self {
        case .from: .invalid(parameter: "from", detail: "A day is written yyyy-MM-dd.")
        case .to: .invalid(parameter: "to", detail: "A day is written yyyy-MM-dd.")
        case .order: .invalid(parameter: "to", detail: "The last day comes before the first.")
        case .length(let days): .invalid(parameter: "from", detail: "At most \(days) days can be asked for.")
        }
    }
}
