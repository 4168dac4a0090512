public import Foundation
import HTTPTypes

/// Proof that the user wants this one request to move money.
public struct Approval: Hashable, Sendable {
    /// How it was given.
    public enum Method: Hashable, Sendable {
        /// By the key of a registered device.
        case device(UUID)
        /// By a correct PIN, for which `auth` issued a token.
        case pin
    }

    /// Spent in the commit of the acceptance; unique for ever.
    public let nonce: UUID
    /// How it was given.
    public let method: Method

    /// Puts an approval together; only verifiers and tests do.
    public init(nonce: UUID, method: Method) {
        self.nonce = nonce
        self.method = method
    }
}

extension APIError {
    /// 403: there is no approval at all; what is wanted is said in full, for it is the first thing a new client meets.
    public static let approvalRequired = APIError(
        .forbidden,
        code: "approval_required",
        detail: """
            Approve this request: `device id=..., nonce=..., ts=..., sig=...`, the ES256 signature of a registered device \
            over TRANSFA-APPROVAL-1, method, path, hex SHA-256 of the body, nonce, ts and user id, a line each; or \
            `pin <token>` of POST /approvals.
            """,
        source: .header("Transfa-Approval")
    )

    /// 403: no device of the user's approved; the app registers the phone again.
    public static let approvingDeviceUnknown = APIError(
        .forbidden,
        code: "device_unknown",
        detail: "The approving device is not registered.",
        source: .header("Transfa-Approval")
    )

    /// 409: a device that was registered a moment ago has not arrived here yet; the same approval is good later.
    public static let approvingDeviceNotReady = APIError(
        .conflict,
        code: "device_not_ready",
        detail: "The approving device was registered a moment ago. Try again in a moment.",
        source: .header("Transfa-Approval"),
        headers: [.retryAfter: "2"]
    )

    /// 403: there is one, and it does not hold; why is not said.
    public static let approvalInvalid = APIError(
        .forbidden,
        code: "approval_invalid",
        detail: "This approval does not hold for this request.",
        source: .header("Transfa-Approval")
    )
}
