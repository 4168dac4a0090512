import Documents
import ServiceKit

extension StatementProblem: APIErrorConvertible {
    /// 400 with the parameter, or 422.
    var apiError: APIError {
        switch self {
        case .from: .invalid(parameter: "from", detail: "A day is written yyyy-MM-dd.")
        case .to: .invalid(parameter: "to", detail: "A day is written yyyy-MM-dd.")
        case .order: .invalid(parameter: "to", detail: "The last day comes before the first.")
        case .length:
            .invalid(parameter: "from", detail: "At most \(StatementPeriod.maximumDays) days can be asked for.")
        case .tooLong:
            .refused(
                "statement_too_long",
                detail: "A PDF has at most \(PDFRenderer.maximumRows) lines. Ask for fewer days, or for CSV."
            )
        }
    }
}

extension DocumentError {
    /// 503 while others are being drawn; anything else is our own fault.
    var apiError: APIError { self.code == .busy ? .unavailable("documents_busy", retryAfter: 2) : .unexpected }
}
