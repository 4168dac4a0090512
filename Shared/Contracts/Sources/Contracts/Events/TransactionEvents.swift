import Foundation

/// A transfer was accepted: the money is held.
///
/// Published by transaction.
public struct TransactionCreated: EventData {
    /// `transaction.created`.
    public static let type: EventType = "transaction.created"

    /// The transfer.
    public var transactionID: UUID
    /// Who paid; nil for money from outside.
    public var senderID: UUID?
    /// Who is paid; nil for money to outside.
    public var recipientID: UUID?
    /// Kobo.
    public var amount: Int64
    /// What kind of transfer.
    public var type: Open<TransactionType>
    /// Bank or wallet.
    public var route: Open<TransferRoute>
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// Why this route.
    public var routeReason: String
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        transactionID: UUID,
        senderID: UUID? = nil,
        recipientID: UUID? = nil,
        amount: Int64,
        type: Open<TransactionType>,
        route: Open<TransferRoute>,
        fee: Int64,
        duty: Int64,
        routeReason: String,
        timestamp: String
    ) {
        self.transactionID = transactionID
        self.senderID = senderID
        self.recipientID = recipientID
        self.amount = amount
        self.type = type
        self.route = route
        self.fee = fee
        self.duty = duty
        self.routeReason = routeReason
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case senderID = "sender_id"
        case recipientID = "recipient_id"
        case amount
        case type
        case route
        case fee
        case duty
        case routeReason = "route_reason"
        case timestamp
    }
}

/// A transfer arrived.
///
/// Published by transaction.
public struct TransactionCompleted: EventData {
    /// `transaction.completed`.
    public static let type: EventType = "transaction.completed"

    /// The transfer.
    public var transactionID: UUID
    /// Who paid; nil for money from outside.
    public var senderID: UUID?
    /// Who is paid; nil for money to outside.
    public var recipientID: UUID?
    /// Kobo.
    public var amount: Int64
    /// What kind of transfer.
    public var type: Open<TransactionType>
    /// Bank or wallet.
    public var route: Open<TransferRoute>
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// Why this route; `suspense`: see `isInSuspense`.
    public var routeReason: String?
    /// What kind of user is paid.
    public var recipientType: Open<AccountType>?
    /// The transfer whose money this brings out of suspense to its recipient.
    public var releases: UUID?
    /// What the payer wrote, sealed with the payer's key.
    public var description: Sealed?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        transactionID: UUID,
        senderID: UUID? = nil,
        recipientID: UUID? = nil,
        amount: Int64,
        type: Open<TransactionType>,
        route: Open<TransferRoute>,
        fee: Int64,
        duty: Int64,
        routeReason: String? = nil,
        recipientType: Open<AccountType>? = nil,
        releases: UUID? = nil,
        description: Sealed? = nil,
        timestamp: String
    ) {
        self.transactionID = transactionID
        self.senderID = senderID
        self.recipientID = recipientID
        self.amount = amount
        self.type = type
        self.route = route
        self.fee = fee
        self.duty = duty
        self.routeReason = routeReason
        self.recipientType = recipientType
        self.releases = releases
        self.description = description
        self.timestamp = timestamp
    }

    /// Whether the money is booked and yet not in the wallet: it waits until somebody has looked at it.
    public var isInSuspense: Bool { self.routeReason == "suspense" }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case senderID = "sender_id"
        case recipientID = "recipient_id"
        case amount
        case type
        case route
        case fee
        case duty
        case routeReason = "route_reason"
        case recipientType = "recipient_type"
        case releases
        case description
        case timestamp
    }
}

/// A transfer failed and everything was given back.
///
/// Published by transaction.
public struct TransactionFailed: EventData {
    /// `transaction.failed`.
    public static let type: EventType = "transaction.failed"

    /// The transfer.
    public var transactionID: UUID
    /// Who paid; nil for money from outside.
    public var senderID: UUID?
    /// Who is paid; nil for money to outside.
    public var recipientID: UUID?
    /// Kobo.
    public var amount: Int64
    /// What kind of transfer.
    public var type: Open<TransactionType>
    /// Bank or wallet.
    public var route: Open<TransferRoute>
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// A code.
    public var failureReason: String
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        transactionID: UUID,
        senderID: UUID? = nil,
        recipientID: UUID? = nil,
        amount: Int64,
        type: Open<TransactionType>,
        route: Open<TransferRoute>,
        fee: Int64,
        duty: Int64,
        failureReason: String,
        timestamp: String
    ) {
        self.transactionID = transactionID
        self.senderID = senderID
        self.recipientID = recipientID
        self.amount = amount
        self.type = type
        self.route = route
        self.fee = fee
        self.duty = duty
        self.failureReason = failureReason
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case senderID = "sender_id"
        case recipientID = "recipient_id"
        case amount
        case type
        case route
        case fee
        case duty
        case failureReason = "failure_reason"
        case timestamp
    }
}

/// A completed transfer was returned.
///
/// Published by transaction.
public struct TransactionReversed: EventData {
    /// `transaction.reversed`.
    public static let type: EventType = "transaction.reversed"

    /// The transfer.
    public var transactionID: UUID
    /// Who paid; nil for money from outside.
    public var senderID: UUID?
    /// Who is paid; nil for money to outside.
    public var recipientID: UUID?
    /// Kobo.
    public var amount: Int64
    /// What kind of transfer.
    public var type: Open<TransactionType>
    /// Bank or wallet.
    public var route: Open<TransferRoute>
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// Kobo that could not be taken back; what the user owes.
    public var receivable: Int64?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        transactionID: UUID,
        senderID: UUID? = nil,
        recipientID: UUID? = nil,
        amount: Int64,
        type: Open<TransactionType>,
        route: Open<TransferRoute>,
        fee: Int64,
        duty: Int64,
        receivable: Int64? = nil,
        timestamp: String
    ) {
        self.transactionID = transactionID
        self.senderID = senderID
        self.recipientID = recipientID
        self.amount = amount
        self.type = type
        self.route = route
        self.fee = fee
        self.duty = duty
        self.receivable = receivable
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case senderID = "sender_id"
        case recipientID = "recipient_id"
        case amount
        case type
        case route
        case fee
        case duty
        case receivable
        case timestamp
    }
}

/// A payment went to the wallet because no external transfer was left.
///
/// Published by transaction.
public struct TransferReroutedInternal: EventData {
    /// `transfer.rerouted.internal`.
    public static let type: EventType = "transfer.rerouted.internal"

    /// The transfer.
    public var transactionID: UUID
    /// Who paid.
    public var senderID: UUID
    /// Who is paid.
    public var recipientID: UUID
    /// Kobo.
    public var amount: Int64
    /// A code.
    public var reason: String
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        transactionID: UUID,
        senderID: UUID,
        recipientID: UUID,
        amount: Int64,
        reason: String,
        timestamp: String
    ) {
        self.transactionID = transactionID
        self.senderID = senderID
        self.recipientID = recipientID
        self.amount = amount
        self.reason = reason
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case senderID = "sender_id"
        case recipientID = "recipient_id"
        case amount
        case reason
        case timestamp
    }
}

/// A free external transfer was used.
///
/// Published by transaction.
public struct ExternalSlotTaken: EventData {
    /// `external_slot.taken`.
    public static let type: EventType = "external_slot.taken"

    /// The person or business.
    public var userID: UUID
    /// The transfer; nil for a correction by an operator.
    public var transactionID: UUID?
    /// The month in Lagos, yyyy-MM.
    public var month: String
    /// Used in that month, this one included; nil when that month is over.
    public var used: Int?

    /// Puts the values together.
    public init(userID: UUID, transactionID: UUID? = nil, month: String, used: Int? = nil) {
        self.userID = userID
        self.transactionID = transactionID
        self.month = month
        self.used = used
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case transactionID = "transaction_id"
        case month
        case used
    }
}

/// A free external transfer was given back.
///
/// Published by transaction.
public struct ExternalSlotReleased: EventData {
    /// `external_slot.released`.
    public static let type: EventType = "external_slot.released"

    /// The person or business.
    public var userID: UUID
    /// The transfer; nil for a correction by an operator.
    public var transactionID: UUID?
    /// The month it goes back to, yyyy-MM.
    public var month: String
    /// Used in that month now; nil when that month is over.
    public var used: Int?

    /// Puts the values together.
    public init(userID: UUID, transactionID: UUID? = nil, month: String, used: Int? = nil) {
        self.userID = userID
        self.transactionID = transactionID
        self.month = month
        self.used = used
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case transactionID = "transaction_id"
        case month
        case used
    }
}
