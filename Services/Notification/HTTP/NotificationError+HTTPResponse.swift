import Hummingbird
import Sealing
import ServiceKit

extension NotificationError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .notificationNotFound, .pushTokenNotFound: .notFound
        case .badSignature:
            APIError(
                .unauthorized,
                code: "bad_signature",
                detail: "The body is not signed with the webhook's token.",
                source: .header(WebhookSignature.anchorHeader),
                headers: [.wwwAuthenticate: "HMAC-SHA1"]
            )
        case .malformedEvent: .invalid("", code: "malformed_event", detail: "The body is no event of the provider.")
        case .tooManyWebhooks: .unavailable()
        case .tooManyStreams: .unavailable("too_many_streams", retryAfter: 5)
        case .malformedPushToken:
            .invalid(
                "/token",
                detail: """
                    A token has \(PushToken.lengths.lowerBound) to \(PushToken.lengths.upperBound) hexadecimal digits.
                    """
            )
        case .deviceUnknown:
            APIError(
                .notFound,
                code: "device_unknown",
                detail: "None of your devices has this id. Register the phone, or leave the id out.",
                source: .pointer("/device_id")
            )
        case .deviceNotReady:
            APIError(
                .conflict,
                code: "device_not_ready",
                detail: "The device was registered a moment ago. Try again in a moment.",
                source: .pointer("/device_id"),
                headers: [.retryAfter: "2"]
            )
        case .sessionEnded: .unauthenticated
        case .profileClosed: .forbidden("profile_closed", detail: "This profile is closed.")
        case .notOnboarded: .notOnboarded
        case .erased: APIError(.gone, code: "erased", detail: "This user was erased.")
        case .notSuppressible(let choice):
            .refused(
                "not_suppressible",
                detail: "Messages about money and security cannot be turned off.",
                source: .pointer("/categories/\(choice.category.rawValue)/\(choice.channel.rawValue)")
            )
        }
    }
}
