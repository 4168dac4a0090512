import HTTPTypes
import Hummingbird
import ServiceKit

extension CustomerError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .notOnboarded:
            .conflict("not_onboarded", detail: "Complete sign-up first. Right after it, try again in a moment.")
        case .erased: APIError(.gone, code: "erased", detail: "This user was erased.")
        case .userNotFound, .beneficiaryNotFound, .enquiryNotFound: .notFound
        case .beneficiaryExists: .conflict("beneficiary_exists", detail: "This bank account was added before.")
        case .tooManyBeneficiaries:
            .refused(
                "too_many_beneficiaries",
                detail: "At most \(Beneficiary.limit(hasPlan: true)) bank accounts are allowed."
            )
        case .planNeeded:
            .refused("plan_needed", detail: "The free plan has one bank account. Subscribe to add another.")
        case .tooManyEnquiries:
            APIError(
                .tooManyRequests,
                code: "too_many_enquiries",
                detail: "At most \(NameEnquiry.hourlyLimit) accounts can be looked up in an hour.",
                headers: [.retryAfter: "600"]
            )
        case .banksUnavailable:
            APIError(
                .serviceUnavailable,
                code: "banks_unavailable",
                detail: "The list of banks is not there yet. Try again in a moment.",
                headers: [.retryAfter: "5"]
            )
        case .beneficiaryNotVerified:
            .refused("beneficiary_not_verified", detail: "The bank has not confirmed this account.")
        case .accountNotFound(let reason): Self.rejected(reason)
        case .merchantsOnly:
            .refused(
                "merchants_only",
                detail: "Only merchants may choose to receive only.",
                source: .pointer("/allow_sending")
            )
        }
    }

    private static func rejected(_ reason: RejectReason) -> APIError {
        switch reason {
        case .accountNotFound:
            .refused(
                reason.rawValue,
                detail: "The bank does not know this account number.",
                source: .pointer("/account_number")
            )
        case .unknownBank:
            .refused(reason.rawValue, detail: "There is no bank with this code.", source: .pointer("/bank_code"))
        case .refusedByProvider: .refused(reason.rawValue, detail: "This bank account cannot be used.")
        }
    }
}

extension FieldProblem: APIErrorConvertible {
    /// 400 with the place and the rule.
    var apiError: APIError { .invalid(self.pointer, detail: self.rule.sentence) }
}
