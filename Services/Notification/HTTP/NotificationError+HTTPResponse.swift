import Hummingbird
import Sealing
import ServiceKit

extension NotificationError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .notificationNotFound: .notFound
        case .badSignature:
            APIError(
                .unauthorized,
                code: "bad_signature",
                detail: "The body is not signed with the webhook's token.",
                source: .header(WebhookSignature.anchorHeader),
                headers: [.wwwAuthenticate: "HMAC-SHA1"]
            )
        case .malformedEvent: .invalid("", code: "malformed_event", detail: "The body is no event of the provider.")
        }
    }
}
