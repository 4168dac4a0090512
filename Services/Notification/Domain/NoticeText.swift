import Contracts
import Primitives

/// The texts that hold values, all of them: amounts, counts and dates, no names, numbers or words of people.
enum NoticeText {
    private static func naira(_ kobo: Int64) -> String { Money(kobo: kobo).nairaText }

    // MARK: Money

    static func credited(_ kobo: Int64) -> String { "\(Self.naira(kobo)) was added to your wallet." }

    static func suspended(_ kobo: Int64) -> String {
        "\(Self.naira(kobo)) arrived for you and is on hold: your wallet may not take it now. Please contact support."
    }

    static func sent(_ kobo: Int64) -> String { "\(Self.naira(kobo)) was sent." }

    static func withdrawn(_ kobo: Int64) -> String { "\(Self.naira(kobo)) arrived in your bank account." }

    static func setAside(_ kobo: Int64) -> String { "\(Self.naira(kobo)) was set aside for your money drop." }

    static func received(_ kobo: Int64, inBank: Bool) -> String {
        "\(Self.naira(kobo)) arrived in your \(inBank ? "bank account" : "wallet")."
    }

    static func claimed(_ kobo: Int64) -> String { "\(Self.naira(kobo)) of a money drop arrived in your wallet." }

    static func failed(_ kobo: Int64) -> String {
        "\(Self.naira(kobo)) could not be sent and is back in your wallet, fees included."
    }

    static func claimFailed(_ kobo: Int64) -> String {
        "\(Self.naira(kobo)) of a money drop could not be paid to you. You may try to claim again."
    }

    static func reversed(_ kobo: Int64) -> String {
        "\(Self.naira(kobo)) was returned to your wallet, fees included."
    }

    static func takenBack(_ kobo: Int64) -> String { "A transfer of \(Self.naira(kobo)) to you was reversed." }

    static func takenBack(_ kobo: Int64, owed: Int64) -> String {
        """
        A transfer of \(Self.naira(kobo)) to you was reversed. \(Self.naira(owed)) of it was spent already and is still \
        to be paid back.
        """
    }

    static func rerouted(_ kobo: Int64) -> String {
        "\(Self.naira(kobo)) is on its way to your wallet: no free transfer to your bank is left this month."
    }

    // MARK: Reported problems

    static func disputeOpened(due day: String) -> String {
        "We have your report about a transfer and will answer it by \(day)."
    }

    static let disputeAnswered = "Your report about a transfer was answered. Open the transfer to read the answer."

    static func disputeClosed(_ outcome: Open<DisputeEnd>) -> String {
        switch outcome {
        case .known(.refunded): "Your report about a transfer is closed: the money was given back."
        case .known(.corrected): "Your report about a transfer is closed: it was set right."
        case .known(.explained), .known(.declined), .unknown:
            "Your report about a transfer is closed. Open the transfer to see why."
        }
    }

    // MARK: Money drops

    static func dropOpened(_ slots: Int, _ each: Int64) -> String {
        "Your drop of \(slots) times \(Self.naira(each)) can be claimed. Share its link."
    }

    static func dropClaimed(_ claimed: Int, of slots: Int) -> String {
        "\(claimed) of \(slots) slots of your drop were claimed."
    }

    static func dropEnded(_ reason: Open<MoneyDropEnd>, claimed: Int, of slots: Int) -> String {
        switch reason {
        case .known(.fundingFailed): "The money for your drop could not be sent and is back in your wallet."
        case .known(.fundingReversed): "The money for your drop was returned to your wallet."
        case .known(.claimed): "All \(slots) slots of your drop were claimed."
        case .known(.expired), .known(.ended), .unknown:
            "\(claimed) of \(slots) slots of your drop were claimed. What is left comes back to you."
        }
    }

    static func dropRefunded(_ kobo: Int64) -> String {
        "\(Self.naira(kobo)) was left of your drop and is back in your wallet."
    }

    // MARK: Payment requests

    static func asked(_ kobo: Int64?) -> String { "You were asked for \(kobo.map(Self.naira) ?? "money")." }

    static func requestPaid(_ kobo: Int64?) -> String {
        guard let kobo else { return "Your payment request was paid." }
        return "Your payment request of \(Self.naira(kobo)) was paid."
    }

    static let requestReopened = "The payment of your request did not go through. It can be paid again."

    // MARK: The account

    static func planActive(until day: String) -> String { "Your plan is active until \(day)." }

    static func planRenewed(until day: String) -> String { "Your plan was renewed and is active until \(day)." }

    static func planCancelled(until day: String) -> String { "Your plan will not be renewed. It ends on \(day)." }

    static func planNotPaid(_ kobo: Int64, isShort: Bool, until day: String?, isTriedAgain: Bool) -> String {
        let reason = isShort ? "there is not enough in your wallet" : "your wallet cannot pay now"
        let rest = day.map {
            isTriedAgain ? " We will try again. Your plan stays active until \($0)." : " Your plan ends on \($0)."
        }
        return "\(Self.naira(kobo)) for your plan could not be paid: \(reason).\(rest ?? "")"
    }

    static let planLapsed = "Your plan has ended. You are on the free plan now."

    static let walletReady = "Your wallet is ready. Add money by bank transfer to your account number."

    static let verified = "Your identity was confirmed. You can use everything now."

    static func notVerified(_ status: IdentityVerdict) -> String {
        switch status {
        case .approved: Self.verified
        case .rejected:
            """
            Your details do not match the records for your BVN. Check name, date of birth, gender and phone number, and \
            send them again.
            """
        case .reenterInformation:
            "Some of your details could not be read. Enter them again as they are at your bank."
        case .awaitingDocument: "A document is needed to confirm your identity."
        case .manualReview: "Your identity is being checked by a person. This may take a day or two."
        case .error: "Your identity could not be checked right now. You need not do anything; it is tried again."
        }
    }

    /// The provider did not take the details: a code of `customer.details_refused`.
    static func detailsRefused(_ reason: String) -> String {
        switch reason {
        case "email_in_use":
            "Another account uses your e-mail address. Send your details again with another address."
        case "phone_invalid": "Your phone number was not accepted. Send your details again with the right number."
        default: "Your details were not accepted. Check each of them and send them again."
        }
    }

    static let deviceAdded =
        "A new device can approve payments. If this was not you, remove it and change your PIN now."

    static let deviceRemoved =
        "A device can no longer approve payments. If this was not you, change your PIN and contact support."

    static let pinSet =
        "A PIN was set that can approve payments. If this was not you, sign out everywhere and contact support now."

    static let pinLocked =
        "Your PIN is locked for a while after too many wrong attempts. If these were not yours, sign out everywhere."

    static let pinReset = "Your PIN was reset. If this was not you, sign out everywhere and contact support now."

    static let exportReady =
        "A copy of your data is ready, for a day. If you did not ask for it, sign out everywhere and contact support now."

    static let pinChanged =
        "Your PIN was changed. If this was not you, reset it now and remove devices of others."

    static func beneficiaryAdded(bank: String) -> String {
        "A bank account at \(bank) was added to your profile. If this was not you, remove it and change your PIN now."
    }

    static let beneficiaryRemoved =
        "A bank account was removed from your profile. If this was not you, change your PIN now."

    static func tierChanged(isHigher: Bool) -> String {
        isHigher
            ? "Your limits are higher now. You find them in the app."
            : "Your limits are lower now. You find them in the app. What is in your wallet stays yours."
    }

    static func restricted(_ restriction: Open<Restriction>) -> String {
        switch restriction {
        case .known(.none): "All restrictions on your account were lifted."
        case .known(.postNoDebit): "You can receive money, but not send any for now. Please contact support."
        case .known(.frozen): "Your account is frozen. Please contact support."
        case .known(.closed): "Your account is closed."
        case .unknown: "What you can do with your account has changed. Please contact support."
        }
    }
}
