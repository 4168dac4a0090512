import Contracts
import Foundation
import Primitives

/// A payment between two people, as far as events have told.
struct Transfer: Hashable, Sendable {
    /// How far it is.
    enum State: String, Sendable {
        /// Accepted and on its way.
        case accepted
        case completed
        case failed
        case reversed
    }

    let id: UUID
    let sender: UserID
    let recipient: UserID
    let type: String
    let state: State
    let route: String
    let amount: Int64
    let fee: Int64
    let duty: Int64
    var failureReason: String?
    let createdAt: Date
    var endedAt: Date?
}

extension Transfer {
    /// What an event says about a payment between two people; nil when it is about another kind of transfer.
    ///
    /// - Throws: `MomentUnreadable`.
    private init?(
        _ id: UUID,
        _ type: Open<TransactionType>,
        from sender: UUID?,
        to recipient: UUID?,
        _ state: State,
        _ route: Open<TransferRoute>,
        _ amounts: (amount: Int64, fee: Int64, duty: Int64),
        at timestamp: String
    ) throws(MomentUnreadable) {
        guard type == .known(.p2p), let sender, let recipient, sender != recipient else { return nil }
        guard let moment = Timestamp.parse(timestamp) else { throw MomentUnreadable() }
        self.id = id
        self.sender = UserID(sender)
        self.recipient = UserID(recipient)
        self.type = type.text
        self.state = state
        self.route = route.text
        self.amount = amounts.amount
        self.fee = amounts.fee
        self.duty = amounts.duty
        // A later event may be the first one heard; then the id tells when the payment was made.
        self.createdAt = state == .accepted ? moment : Self.made(id) ?? moment
        self.endedAt = state == .accepted ? nil : moment
    }

    private static func made(_ id: UUID) -> Date? {
        id.version7Milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    init?(_ data: TransactionCreated) throws(MomentUnreadable) {
        let amounts = (data.amount, data.fee, data.duty)
        try self.init(
            data.transactionID,
            data.type,
            from: data.senderID,
            to: data.recipientID,
            .accepted,
            data.route,
            amounts,
            at: data.timestamp
        )
    }

    init?(_ data: TransactionCompleted) throws(MomentUnreadable) {
        let amounts = (data.amount, data.fee, data.duty)
        try self.init(
            data.transactionID,
            data.type,
            from: data.senderID,
            to: data.recipientID,
            .completed,
            data.route,
            amounts,
            at: data.timestamp
        )
    }

    init?(_ data: TransactionFailed) throws(MomentUnreadable) {
        let amounts = (data.amount, data.fee, data.duty)
        try self.init(
            data.transactionID,
            data.type,
            from: data.senderID,
            to: data.recipientID,
            .failed,
            data.route,
            amounts,
            at: data.timestamp
        )
        self.failureReason = data.failureReason
    }

    init?(_ data: TransactionReversed) throws(MomentUnreadable) {
        let amounts = (data.amount, data.fee, data.duty)
        try self.init(
            data.transactionID,
            data.type,
            from: data.senderID,
            to: data.recipientID,
            .reversed,
            data.route,
            amounts,
            at: data.timestamp
        )
    }
}

/// An event names a moment that is none.
struct MomentUnreadable: Error {}
