import HTTPTypes
import ServiceKit

extension OrderRefusal: APIErrorConvertible {
    /// The answer to an order with this refusal.
    var apiError: APIError {
        switch self {
        case .recovering: .recovering
        case .senderUnknown: .notOnboarded
        // Their wallet opens when they have been verified.
        case .recipientNotReady: .passing(self.rawValue, detail: self.detail, after: 60)
        case .requestInPayment: .passing(self.rawValue, detail: self.detail, after: 5)
        default: Self.error(self.status, self.rawValue, self.detail, source: self.source)
        }
    }

    /// The answer to an order with the code of a refusal; one that only a newer version knows is one of business.
    static func apiError(of code: String) -> APIError {
        OrderRefusal(rawValue: code)?.apiError ?? Self.error(.unprocessableContent, code, nil, source: nil)
    }

    private static func error(
        _ status: HTTPResponse.Status,
        _ code: String,
        _ detail: String?,
        source: APIError.Source?
    ) -> APIError {
        let title = status == .forbidden ? "Forbidden" : "Unprocessable Entity"
        return APIError(status, code: code, title: title, detail: detail, source: source)
    }

    /// 403 for who may not; else 422, also for what the body names and is not there.
    private var status: HTTPResponse.Status {
        switch self {
        case .senderRestricted, .receiveOnly, .approvalUsed, .deviceUnknown, .deviceRevoked: .forbidden
        default: .unprocessableContent
        }
    }

    private var source: APIError.Source? {
        switch self {
        case .keyReused: .header("Idempotency-Key")
        case .amountBelowMinimum: .pointer("/amount")
        case .recipientUnknown: .pointer("/recipient_username")
        case .requestUnknown: .pointer("/payment_request_id")
        case .beneficiaryUnknown: .pointer("/beneficiary_id")
        default: nil
        }
    }

    private var detail: String? {
        switch self {
        case .senderUnknown, .recovering: nil
        case .keyReused: "This idempotency key was used for a different request."
        case .senderRestricted: "This account may not send money at the moment."
        case .receiveOnly: "This account only receives payments."
        case .approvalUsed: "This approval was already used. Approve the payment again."
        case .deviceUnknown: "The approving device is not registered."
        case .deviceRevoked: "The approving device was removed."
        case .amountInvalid: "The amount must be greater than zero."
        case .recipientUnknown: "There is no user with this name."
        case .recipientSelf: "You cannot pay yourself."
        case .recipientUnavailable: "The recipient cannot receive payments at the moment."
        case .recipientNotReady: "The recipient has no wallet yet."
        case .requestUnknown: "There is no such payment request."
        case .requestMismatch: "The payment request is not the recipient's."
        case .requestInPayment: "Somebody is paying this request already."
        case .requestPaid: "This request was paid."
        case .requestExpired: "This request has expired."
        case .requestDeclined: "This request was declined."
        case .requestAmount: "The request is for another amount."
        case .beneficiaryUnknown: "There is no such bank account."
        case .beneficiaryNotVerified: "This bank account is not verified."
        case .beneficiaryNotInPlan: "On the free plan money goes to your default bank account only."
        case .expiryInvalid: "The expiry must be in the future, at most 31 days away."
        case .quoteExpired: "This quote has expired. Ask for another one."
        case .amountBelowMinimum: "The amount is less than what can be sent to a bank."
        case .limitPerTransfer: "The amount is above your limit for one transfer."
        case .limitPerDay: "The amount is above what is left of your daily limit."
        case .limitPerMonth: "The amount is above what is left of your monthly limit."
        case .limitNewDevice: "The amount is above what a new device may send on its first day."
        case .limitNewBeneficiary: "The amount is above what a new bank account takes on its first day."
        case .quoteChanged: "It costs more by now than was quoted. Ask for another quote."
        case .insufficientFunds: "The available balance does not cover amount and fees."
        case .recipientLimit: "The recipient's wallet does not take this amount at the moment."
        }
    }
}
