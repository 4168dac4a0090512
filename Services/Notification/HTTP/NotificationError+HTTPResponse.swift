import Hummingbird
import ServiceKit

extension NotificationError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .notificationNotFound: .notFound
        case .badSignature: APIError(.unauthorized, code: "bad_signature")
        case .malformedEvent: APIError(.badRequest, code: "malformed_event")
        }
    }
}
