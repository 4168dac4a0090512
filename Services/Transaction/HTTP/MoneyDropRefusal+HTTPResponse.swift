import ServiceKit

extension MoneyDropRefusal: APIErrorConvertible {
    /// 403 and 409 for what another try may change, 404 without a drop, 503 while nothing is decided, 422 for the rest:
    /// stored under the key when it will be so for ever.
    var apiError: APIError {
        switch self {
        case .claimantUnknown, .claimantNotReady: .notOnboarded
        case .claimantRestricted, .passwordWrong: .forbidden(self.rawValue, detail: self.detail)
        case .unknown: .notFound
        case .recovering: .recovering
        case .pending: .passing(self.rawValue, detail: self.detail, after: 2)
        // People lift what holds its creator back.
        case .paused: .passing(self.rawValue, detail: self.detail, after: 600)
        // A claim may fail, and its slot is open again; room in a wallet comes back.
        case .alreadyClaimed, .exhausted, .recipientLimit: .refused(self.rawValue, detail: self.detail).notKept()
        default: .refused(self.rawValue, detail: self.detail)
        }
    }

    private var detail: String? {
        switch self {
        case .claimantUnknown, .claimantNotReady: nil
        case .claimantRestricted: "This account may not receive money at the moment."
        case .passwordWrong: "The password is wrong."
        case .unknown: "There is no such money drop."
        case .own: "You cannot claim your own money drop."
        case .alreadyClaimed: "You have claimed from this money drop."
        case .pending: "The money of this drop is still on its way."
        case .expired: "This money drop has expired."
        case .exhausted: "Every slot of this money drop is taken."
        case .ended: "This money drop has ended."
        case .paused: "This money drop pays nobody at the moment."
        case .recovering: "Payments are being checked against the bank."
        case .recipientLimit: "The claim would lift your wallet above its maximum balance."
        }
    }
}

extension DropPasswordProblem: APIErrorConvertible {
    /// 403, or 429 with the time to wait; none is stored.
    var apiError: APIError {
        switch self {
        case .missing: .forbidden("password_required", detail: "This money drop has a password.")
        case .wrong: MoneyDropRefusal.passwordWrong.apiError
        case .tooMany(let wait):
            .tooManyRequests(
                detail: "Too many wrong passwords. Wait as long as Retry-After says.",
                retryAfter: wait
            )
        }
    }
}

extension BusyHashing: APIErrorConvertible {
    /// 503: nothing happened.
    var apiError: APIError { .unavailable("overloaded") }
}
