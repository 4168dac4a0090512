import Contracts
import Foundation
import Primitives

/// A payment that has passed between two people.
struct Transfer: Hashable, Sendable {
    /// Whether it arrived and lasted.
    enum State: String, Sendable {
        case completed
        /// In suspense: it has left the sender, and the recipient does not have it yet.
        case waiting
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
    let createdAt: Date
    let endedAt: Date

    /// Whether it has not arrived, as one of the two sees it.
    func isAwaited(by reader: UserID) -> Bool { self.state == .waiting && reader != self.sender }

    /// The state as one of the two sees it, in the words of transaction's own list.
    func shownState(to reader: UserID) -> String {
        switch self.state {
        case .waiting: self.isAwaited(by: reader) ? "in_suspense" : State.completed.rawValue
        case .completed, .reversed: self.state.rawValue
        }
    }
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
        self.createdAt = Self.made(id) ?? moment
        self.endedAt = moment
    }

    private static func made(_ id: UUID) -> Date? {
        id.version7Milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }

    init?(_ data: TransactionCompleted) throws(MomentUnreadable) {
        let amounts = (data.amount, data.fee, data.duty)
        try self.init(
            data.transactionID,
            data.type,
            from: data.senderID,
            to: data.recipientID,
            data.isInSuspense ? .waiting : .completed,
            data.route,
            amounts,
            at: data.timestamp
        )
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
