import Hummingbird
import ServiceKit

extension AuthError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .usernameTaken:
            .conflict(
                "username_taken",
                detail: "Somebody else has this username, or one that looks like it.",
                source: .pointer("/username")
            )
        case .identityInUse(let pointer):
            .conflict(
                "identity_in_use",
                detail: "There is an account with this number. Sign in to it, or write to us if it is not yours.",
                source: .pointer(pointer)
            )
        case .notFrozen:
            .conflict("not_frozen", detail: "Freeze this account first: of one person one account moves money.")
        case .alreadyOnboarded: .conflict("already_onboarded", detail: "This user has signed up before.")
        case .notOnboarded: .notOnboarded
        case .alreadyVerified:
            .conflict("already_verified", detail: "Details that are verified cannot be changed here.")
        case .currentPINRequired:
            .conflict(
                "current_pin_required",
                detail: "A PIN is set; send it as current_pin.",
                source: .pointer("/current_pin")
            )
        case .pinNotSet: .forbidden("pin_not_set", detail: "Set a PIN first.")
        case .pinInvalid(let left): .forbidden("pin_invalid", detail: "The PIN is wrong. Attempts left: \(left).")
        case .pinLocked(let seconds): Self.locked(seconds)
        case .pinChanged: .conflict("pin_changed", detail: "The PIN was changed at the same moment.")
        case .keyReused: .idempotencyKeyReused
        case .reverificationRequired:
            .forbidden("reverification_required", detail: "Sign in again, then send this within ten minutes.")
        case .sessionEnded: .unauthenticated
        case .busy:
            .tooManyRequests(detail: "Too many PINs are being checked; this attempt was not counted.", retryAfter: 1)
        case .deviceNotFound, .keyNotFound, .userNotFound: .notFound
        case .tooManyDevices:
            .refused("too_many_devices", detail: "At most \(Device.limit) devices may be active.").notKept()
        case .badSignature: Self.unsigned
        case .malformedMessage: .invalid("", code: "malformed_event", detail: "The body is no message of Clerk.")
        case .erased: APIError(.gone, code: "erased", detail: "This user was erased.")
        }
    }

    private static let unsigned = APIError(
        .unauthorized,
        code: "bad_signature",
        detail: "The body is not signed with the webhook's secret, or was signed more than five minutes ago.",
        source: .header(ClerkWebhookController.signatureHeader),
        headers: [.wwwAuthenticate: "HMAC-SHA256"]
    )

    private static func locked(_ seconds: Int) -> APIError {
        var error = APIError.forbidden("pin_locked", detail: "Too many wrong PINs. Try again later.")
        error.headers[.retryAfter] = String(seconds)
        return error
    }
}

extension FieldProblem: APIErrorConvertible {
    /// 400 with the place and the rule.
    var apiError: APIError { .invalid(self.pointer, code: self.rule.code, detail: self.rule.sentence) }
}
