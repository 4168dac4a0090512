/// Everything that people are told.
///
/// Clients branch on the raw value. The texts that hold values are in `NoticeText`; those here hold none, so they may
/// stand on a locked phone.
enum NoticeKind: String, CaseIterable, Sendable {
    // Money
    case credited = "wallet.credited"
    case suspended = "wallet.suspended"
    case sent = "transaction.completed"
    case received = "transaction.received"
    case failed = "transaction.failed"
    case reversed = "transaction.reversed"
    case takenBack = "transaction.taken_back"
    case rerouted = "transfer.rerouted.internal"
    // Reported problems
    case disputeOpened = "dispute.opened"
    case disputeAnswered = "dispute.answered"
    case disputeClosed = "dispute.closed"
    // Money drops
    case dropOpened = "money_drop.opened"
    case dropClaimed = "money_drop.claimed"
    case dropEnded = "money_drop.ended"
    // Payment requests
    case asked = "payment_request.created"
    case requestPaid = "payment_request.fulfilled"
    case requestReopened = "payment_request.reopened"
    case requestDeclined = "payment_request.declined"
    case requestCancelled = "payment_request.cancelled"
    case requestExpired = "payment_request.expired"
    // The plan
    case planActive = "subscription.activated"
    case planRenewed = "subscription.renewed"
    case planNotPaid = "subscription.payment_failed"
    case planCancelled = "subscription.cancelled"
    case planLapsed = "subscription.lapsed"
    // The account and who may use it
    case walletReady = "account.opened"
    case verified = "customer.verified"
    case notVerified = "customer.rejected"
    case deviceAdded = "device.registered"
    case deviceRemoved = "device.revoked"
    case pinSet = "pin.set"
    case pinLocked = "pin.locked"
    case pinReset = "pin.reset"
    case pinChanged = "pin.changed"
    case beneficiaryAdded = "beneficiary.added"
    case beneficiaryRemoved = "beneficiary.removed"
    case restricted = "user.restricted"
    case tierChanged = "user.tier_changed"
    case exportReady = "user.export_ready"

    /// What it is about.
    var category: NoticeCategory {
        switch self {
        case .credited, .suspended, .sent, .received, .failed, .reversed, .takenBack, .rerouted: .money
        case .disputeOpened, .disputeAnswered, .disputeClosed: .money
        // These tell of the plan's price.
        case .planActive, .planRenewed, .planNotPaid: .money
        case .dropOpened, .dropClaimed, .dropEnded: .drops
        case .asked, .requestPaid, .requestReopened, .requestDeclined, .requestCancelled, .requestExpired: .requests
        case .planCancelled, .planLapsed: .subscription
        case .walletReady, .verified, .notVerified, .tierChanged: .account
        case .deviceAdded, .deviceRemoved, .pinSet, .pinLocked, .pinReset, .pinChanged: .security
        case .beneficiaryAdded, .beneficiaryRemoved, .restricted, .exportReady: .security
        }
    }

    /// A few words.
    var title: String { self.words.title }

    /// What a push says in place of the text when the person does not want amounts on the phone's lock screen.
    var discreet: String { self.words.discreet }

    private var words: (title: String, discreet: String) {
        switch self {
        case .credited: ("Money Received", "Money was added to your wallet.")
        case .suspended: ("Money On Hold", "Money for you is on hold. Open the app to see why.")
        case .sent: ("Transfer Successful", "Your transfer has arrived.")
        case .received: ("Money Received", "You received money.")
        case .failed: ("Transfer Failed", "A transfer could not be sent. The money is back in your wallet.")
        case .reversed: ("Transfer Reversed", "A transfer was returned to your wallet.")
        case .takenBack: ("Transfer Reversed", "A transfer to you was reversed.")
        case .rerouted: ("Sent To Your Wallet", "A payment to you is on its way to your wallet.")
        case .disputeOpened: ("Report Received", "We have your report about a transfer.")
        case .disputeAnswered: ("Report Answered", "Your report about a transfer was answered.")
        case .disputeClosed: ("Report Closed", "Your report about a transfer is closed.")
        case .dropOpened: ("Money Drop Ready", "Your money drop can be claimed. Share its link.")
        case .dropClaimed: ("Money Drop Claimed", "Somebody claimed from your money drop.")
        case .dropEnded: ("Money Drop Ended", "Your money drop has ended.")
        case .asked: ("Payment Request", "You were asked for money.")
        case .requestPaid: ("Request Paid", "Your payment request was paid.")
        case .requestReopened: ("Request Open Again", "A payment of your request did not go through.")
        case .requestDeclined: ("Request Declined", "Your payment request was declined.")
        case .requestCancelled: ("Request Cancelled", "A payment request to you was taken back.")
        case .requestExpired: ("Request Expired", "Your payment request has expired.")
        case .planActive: ("Subscription Active", "Your plan is active.")
        case .planRenewed: ("Subscription Renewed", "Your plan was renewed.")
        case .planNotPaid: ("Subscription Not Paid", "Your plan could not be paid.")
        case .planCancelled: ("Subscription Cancelled", "Your plan will not be renewed.")
        case .planLapsed: ("Subscription Ended", "Your plan has ended.")
        case .walletReady: ("Wallet Ready", "Your wallet is ready.")
        case .verified: ("Identity Confirmed", "Your identity was confirmed.")
        case .notVerified: ("Identity Check", "There is news about your identity check.")
        case .deviceAdded: ("New Device", "A new device can approve payments.")
        case .deviceRemoved: ("Device Removed", "A device can no longer approve payments.")
        case .pinSet: ("PIN Set", "A PIN was set that can approve payments.")
        case .pinLocked: ("PIN Locked", "Your PIN is locked after too many wrong attempts.")
        case .pinReset: ("PIN Reset", "Your PIN was reset.")
        case .pinChanged: ("PIN Changed", "Your PIN was changed.")
        case .beneficiaryAdded: ("Bank Account Added", "A bank account was added to your profile.")
        case .beneficiaryRemoved: ("Bank Account Removed", "A bank account was removed from your profile.")
        case .restricted: ("Account Notice", "What you can do with your account has changed.")
        case .tierChanged: ("Your Limits", "Your limits have changed.")
        case .exportReady: ("Your Data", "A copy of your data is ready.")
        }
    }
}
