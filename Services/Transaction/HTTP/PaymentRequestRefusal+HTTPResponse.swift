import ServiceKit

extension PaymentRequestRefusal: APIErrorConvertible {
    /// 403, 404, 409, 422 or 429.
    var apiError: APIError {
        switch self {
        case .ownerNotReady: .notOnboarded
        case .ownerRestricted: .forbidden(self.rawValue, detail: "This account may not receive money at the moment.")
        case .unknown: .notFound
        case .payerUnknown:
            .refused(self.rawValue, detail: "There is no user with this name.", source: .pointer("/payer_username"))
                .notKept()
        case .payerSelf:
            .refused(self.rawValue, detail: "You cannot ask yourself for money.", source: .pointer("/payer_username"))
        case .payerTakesNoRequests:
            .refused(
                self.rawValue,
                detail: "This person does not take requests for money from you.",
                source: .pointer("/payer_username")
            )
            .notKept()
        case .askedTooOften:
            // Sixty an hour, or twenty a day of one person: after an hour the first may be over.
            .tooManyRequests(
                detail: "You have asked for money too often. Wait, or share a link.",
                source: .pointer("/payer_username"),
                retryAfter: 3600
            )
        case .expiryInvalid:
            .refused(
                self.rawValue,
                detail: "The expiry must be in the future, at most 92 days away.",
                source: .pointer("/expires_at")
            )
            .notKept()
        case .tooManyOpen:
            .refused(self.rawValue, detail: "Too many of your requests are open: at most 200, and 10 to one person.")
                .notKept()
        case .inPayment: .passing(self.rawValue, detail: "Somebody is paying this request.", after: 5)
        // A payment that is taken back opens it again.
        case .paid: .refused(self.rawValue, detail: "This request was paid.").notKept()
        case .expired: .refused(self.rawValue, detail: "This request has expired.")
        case .declined: .refused(self.rawValue, detail: "This request was declined.")
        }
    }
}

extension QuoteProblem: APIErrorConvertible {
    /// 422.
    var apiError: APIError {
        switch self {
        case .noRecipient:
            .refused(
                "recipient_unknown",
                detail: "There is nobody else with this name.",
                source: .pointer("/recipient_username")
            )
        case .noBeneficiary:
            .refused(
                "beneficiary_unknown",
                detail: "There is no such bank account.",
                source: .pointer("/beneficiary_id")
            )
        }
    }
}
