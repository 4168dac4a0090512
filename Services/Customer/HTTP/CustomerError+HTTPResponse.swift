import HTTPTypes
import Hummingbird
import ServiceKit

extension CustomerError: APIErrorConvertible {
    /// What the client is told.
    var apiError: APIError {
        switch self {
        case .notOnboarded: .notOnboarded
        case .erased: APIError(.gone, code: "erased", detail: "This user was erased.")
        case .profileClosed: .conflict("profile_closed", detail: "A closed profile is not opened again.")
        case .userNotFound, .beneficiaryNotFound, .enquiryNotFound, .documentNotFound, .exportNotFound: .notFound
        case .exportNotReady:
            .conflict("export_not_ready", detail: "There is no file yet. GET /users/me/export says how it stands.")
        case .exportExpired:
            APIError(.gone, code: "export_expired", detail: "The file is deleted after a day. Ask for another.")
        case .exportedToday(let wait):
            .tooManyRequests(detail: "One's own data can be asked for once a day.", retryAfter: wait)
        case .documentsNotWanted:
            .conflict("documents_not_wanted", detail: "No documents are wanted at the moment.")
        case .documentHandedIn: .conflict("document_handed_in", detail: "This document was handed in before.")
        case .documentRefused(let reason): .refused(reason.code, detail: reason.sentence, source: .pointer(""))
        case .beneficiaryNotInReview:
            .conflict("beneficiary_not_in_review", detail: "There is nothing to decide about this account.")
        case .beneficiaryExists: .conflict("beneficiary_exists", detail: "This bank account was added before.")
        case .tooManyBeneficiaries:
            .refused(
                "too_many_beneficiaries",
                detail: "At most \(Beneficiary.limit(hasPlan: true)) bank accounts are allowed."
            )
            .notKept()
        case .planNeeded:
            .refused("plan_needed", detail: "The free plan has one bank account. Subscribe to add another.").notKept()
        case .tooManyEnquiries:
            .tooManyRequests(
                detail: "At most \(NameEnquiry.hourlyLimit) accounts can be looked up in an hour.",
                retryAfter: 600
            )
        case .banksUnavailable:
            APIError(
                .serviceUnavailable,
                code: "banks_unavailable",
                detail: "The list of banks is not there yet. Try again in a moment.",
                headers: [.retryAfter: "5"]
            )
        case .beneficiaryNotVerified:
            .refused("beneficiary_not_verified", detail: "The bank has not confirmed this account.").notKept()
        case .accountNotFound(let reason): Self.rejected(reason)
        case .blockSelf: .refused("block_self", detail: "You cannot block yourself.")
        case .tooManyBlocks:
            .refused("too_many_blocks", detail: "At most \(ChangeBlock.limit) people can be blocked.").notKept()
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
        case .nameMismatch:
            .refused(
                reason.rawValue,
                detail: "The account must be in the name you were verified with.",
                source: .pointer("/account_number")
            )
        }
    }
}

extension IdentityDocument.Reason {
    /// For the app.
    var code: String {
        switch self {
        case .refusedByProvider: "document_refused"
        case .notDelivered: "document_not_delivered"
        }
    }

    /// For the person.
    var sentence: String {
        switch self {
        case .refusedByProvider: "The bank did not accept this document. Hand in another, readable and whole."
        case .notDelivered: "The document could not be delivered. Hand it in again."
        }
    }
}

extension DocumentProblem: APIErrorConvertible {
    /// 413, 415 or 422.
    var apiError: APIError {
        switch self {
        case .unsupportedType:
            APIError(
                .unsupportedMediaType,
                code: "unsupported_document_type",
                detail: "Send a PDF, JPEG or PNG file.",
                source: .pointer("")
            )
        case .malformed:
            .refused("document_malformed", detail: "The file is damaged or cut off.", source: .pointer(""))
        case .tooManyBytes: .bodyTooLarge
        case .textInvalid:
            .refused(
                "document_text_invalid",
                detail: "Send one line of 1 to 200 characters, in UTF-8.",
                source: .pointer("")
            )
        }
    }
}

extension FieldProblem: APIErrorConvertible {
    /// 400 with the place and the rule.
    var apiError: APIError { .invalid(self.pointer, detail: self.rule.sentence) }
}
