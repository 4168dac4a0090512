import Foundation

/// A person has reported a problem with a transfer.
///
/// Published by transaction.
public struct DisputeOpened: EventData {
    /// `dispute.opened`.
    public static let type: EventType = "dispute.opened"

    /// The dispute.
    public var disputeID: UUID
    /// The transfer.
    public var transactionID: UUID
    /// Who reports it.
    public var userID: UUID
    /// A code.
    public var reason: String
    /// RFC 3339, UTC; by then it must be answered.
    public var dueAt: String
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        disputeID: UUID,
        transactionID: UUID,
        userID: UUID,
        reason: String,
        dueAt: String,
        timestamp: String
    ) {
        self.disputeID = disputeID
        self.transactionID = transactionID
        self.userID = userID
        self.reason = reason
        self.dueAt = dueAt
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case disputeID = "dispute_id"
        case transactionID = "transaction_id"
        case userID = "user_id"
        case reason
        case dueAt = "due_at"
        case timestamp
    }
}

/// A reported problem was answered; the words are in the dispute.
///
/// Published by transaction.
public struct DisputeAnswered: EventData {
    /// `dispute.answered`.
    public static let type: EventType = "dispute.answered"

    /// The dispute.
    public var disputeID: UUID
    /// The transfer.
    public var transactionID: UUID
    /// Who reported it.
    public var userID: UUID
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(disputeID: UUID, transactionID: UUID, userID: UUID, timestamp: String) {
        self.disputeID = disputeID
        self.transactionID = transactionID
        self.userID = userID
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case disputeID = "dispute_id"
        case transactionID = "transaction_id"
        case userID = "user_id"
        case timestamp
    }
}

/// A reported problem is settled.
///
/// Published by transaction.
public struct DisputeClosed: EventData {
    /// `dispute.closed`.
    public static let type: EventType = "dispute.closed"

    /// The dispute.
    public var disputeID: UUID
    /// The transfer.
    public var transactionID: UUID
    /// Who reported it.
    public var userID: UUID
    /// What came of it.
    public var outcome: Open<DisputeEnd>
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        disputeID: UUID,
        transactionID: UUID,
        userID: UUID,
        outcome: Open<DisputeEnd>,
        timestamp: String
    ) {
        self.disputeID = disputeID
        self.transactionID = transactionID
        self.userID = userID
        self.outcome = outcome
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case disputeID = "dispute_id"
        case transactionID = "transaction_id"
        case userID = "user_id"
        case outcome
        case timestamp
    }
}
