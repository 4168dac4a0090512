public import Foundation
public import Primitives

/// Money that came in from a bank.
public struct InboundPayment: Sendable, Hashable {
    /// The provider's id of the payment: credit once per id.
    public var id: String
    /// The provider's reference; one of ours when money of ours came back.
    public var reference: String?
    /// The amount.
    public var amount: Money
    /// The deposit account it went to, when the answer names it.
    public var accountID: String?
    /// Whether the money is there to spend.
    public var isSettled: Bool
    /// When it was paid, if said readably.
    public var paidAt: Date?
    /// Who paid.
    ///
    /// Personal data.
    public var payer: Payer?
    /// What the payer wrote.
    ///
    /// Personal data.
    public var narration: String?

    /// Who paid.
    ///
    /// Personal data.
    public struct Payer: Sendable, Hashable {
        /// The name the paying bank sent.
        public var accountName: String?
        /// The number paid from.
        public var accountNumber: String?
        /// The paying bank.
        public var bankName: String?
    }
}

/// One page of the payments that came in on an account number.
public struct InboundPaymentPage: Sendable, Hashable {
    /// The payments.
    public var payments: [InboundPayment]
    /// How many pages there are; nil when the provider did not say.
    public var pageCount: Int?

    /// Creates a page.
    public init(payments: [InboundPayment], pageCount: Int?) {
        self.payments = payments
        self.pageCount = pageCount
    }
}

/// One row of an account's history at the provider.
public struct AccountTransaction: Sendable, Hashable {
    /// Which way the money went.
    public enum Direction: String, Sendable, Hashable {
        /// In.
        case credit = "CREDIT"
        /// Out.
        case debit = "DEBIT"
    }

    /// The provider's id of the row.
    public var id: String
    /// The amount, never negative.
    public var amount: Money
    /// In or out; nil for a word this version does not know.
    public var direction: Direction?
    /// The reference, if any.
    public var reference: String?
    /// When, if said readably.
    public var createdAt: Date?
    /// Of a bill: the provider's word for what it is for.
    public var feeType: String?

    /// The row as a bill; nil for any other row.
    public var bill: AccountBill? {
        guard let feeType, self.direction == .debit, self.amount.kobo > 0 else { return nil }
        return AccountBill(
            id: self.id,
            kind: feeType,
            amount: self.amount,
            reference: self.reference,
            createdAt: self.createdAt
        )
    }
}

/// What the provider took from an account for its service: a row of its own, never netted from another.
public struct AccountBill: Sendable, Hashable {
    /// The kind of a bill whose word is no code.
    public static let unreadable = "UNREADABLE"

    /// The provider's id of the row.
    public var id: String
    /// The provider's word for what it is for, such as `TRANSFER_FEE`.
    public var kind: String
    /// The amount.
    public var amount: Money
    /// The reference of the transfer that it is for, if any.
    public var reference: String?
    /// When, if said readably.
    public var createdAt: Date?

    /// Creates a bill.
    public init(id: String, kind: String, amount: Money, reference: String? = nil, createdAt: Date? = nil) {
        self.id = id
        self.kind = kind
        self.amount = amount
        self.reference = reference
        self.createdAt = createdAt
    }
}

/// One page of an account's history.
public struct AccountTransactionPage: Sendable, Hashable {
    /// The rows.
    public var rows: [AccountTransaction]
    /// Whether there is another page.
    public var hasMore: Bool
}
