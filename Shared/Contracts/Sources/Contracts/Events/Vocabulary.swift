/// Kinds of users.
public enum AccountType: String, Codable, Sendable, CaseIterable {
    /// A person.
    case personal
    /// A business.
    case merchant
}

/// Where a user wants payments to land.
public enum ReceivingPreference: String, Codable, Sendable, CaseIterable {
    /// In the default beneficiary, while the plan allows it.
    case external
    /// In the wallet.
    case wallet
}

/// What a user may no longer do.
public enum Restriction: String, Codable, Sendable, CaseIterable {
    /// Everything is allowed.
    case none
    /// Money comes in and does not go out.
    case postNoDebit = "post_no_debit"
    /// Nothing moves; money that arrives waits in suspense.
    case frozen
    /// The profile is closed.
    case closed
}

/// How verification at the provider stands.
public enum VerificationStatus: String, Codable, Sendable, CaseIterable {
    /// Under way.
    case pending
    /// Done.
    case approved
    /// Refused.
    case rejected
    /// The provider wants documents.
    case awaitingDocument = "awaiting_document"
    /// A person at the provider looks at it.
    case manualReview = "manual_review"
    /// The provider could not decide.
    case error
}

/// Kinds of transfers.
public enum TransactionType: String, Codable, Sendable, CaseIterable {
    /// From one user to another.
    case p2p
    /// To a bank account of one's own.
    case selfTransfer = "self_transfer"
    /// Into the pool of a money drop.
    case moneyDrop = "money_drop"
    /// From the pool to a claimant.
    case dropClaim = "drop_claim"
    /// From the pool back to its creator.
    case dropRefund = "drop_refund"
    /// A plan's price.
    case subscriptionCharge = "subscription_charge"
    /// Money from outside.
    case inbound
}

/// Who may ask a person for money.
public enum RequestPolicy: String, Codable, Sendable, CaseIterable {
    /// Whoever knows the username.
    case everyone
    /// People the person has paid or was paid by.
    case contacts
    /// Nobody.
    case nobody
}

/// Which way a transfer goes.
public enum TransferRoute: String, Codable, Sendable, CaseIterable {
    /// To a bank, by NIP.
    case external
    /// Between wallets, by book transfer.
    case `internal`
}

/// Why nobody can claim from a money drop any more.
public enum MoneyDropEnd: String, Codable, Sendable, CaseIterable {
    /// Its time was over.
    case expired
    /// Its creator ended it.
    case ended
    /// Every slot was claimed.
    case claimed
    /// The money did not arrive in the pool.
    case fundingFailed = "funding_failed"
    /// The provider took the money back out of the pool.
    case fundingReversed = "funding_reversed"
}

/// What came of a reported problem.
public enum DisputeEnd: String, Codable, Sendable, CaseIterable {
    /// The money was given back.
    case refunded
    /// Something was set right.
    case corrected
    /// Nothing was wrong.
    case explained
    /// It stays as it is.
    case declined
}

/// What the provider says of a transfer.
public enum ProviderTransferStatus: String, Codable, Sendable, CaseIterable {
    /// Under way.
    case initiated
    /// Arrived.
    case successful
    /// Did not arrive.
    case failed
    /// Arrived and came back.
    case reversed
}
