import ServiceKit

extension DisputeRefusal: APIErrorConvertible {
    /// 404, 409 or 422.
    var apiError: APIError {
        switch self {
        case .unknown: .notFound
        case .open: .conflict(self.rawValue, detail: "You have reported a problem with this transfer already.")
        case .tooMany:
            .refused(self.rawValue, detail: "Too many reports: at most 5 of one transfer, and 20 that are not closed.")
                .notKept()
        case .closed: .conflict(self.rawValue, detail: "This report is closed.")
        }
    }
}
