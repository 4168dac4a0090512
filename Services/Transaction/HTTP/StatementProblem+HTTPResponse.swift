import Documents
import ServiceKit

extension StatementProblem: APIErrorConvertible {
    /// 422.
    var apiError: APIError {
        switch self {
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
