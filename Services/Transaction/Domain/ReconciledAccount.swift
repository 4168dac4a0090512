import Foundation

/// What our books say about one of the provider's accounts.
struct OurBooks: Sendable, Equatable {
    /// A transfer of ours that leaves or reaches the account.
    struct Transfer: Sendable, Equatable {
        let reference: String
        let providerID: String?
        let state: String
        let amount: Int64
        let isOutgoing: Bool
        let createdAt: Date
    }

    /// Money from outside that was taken.
    struct Payment: Sendable, Equatable {
        let id: String
        let amount: Int64
        let receivedAt: Date
    }

    var transfers: [Transfer]
    var payments: [Payment]
    /// Kobo that the account should hold when nothing is under way.
    var expected: Int64
    /// Kobo under way out of it.
    var leaving: Int64
    /// Kobo under way into it.
    var arriving: Int64
    /// Kobo that the provider has billed to it, as far as it is booked; what is expected is without them.
    var billed: Int64 = 0
}

/// What the provider says about one of its accounts.
struct TheirBooks: Sendable, Equatable {
    /// How far a transfer is.
    enum Status: String, Sendable {
        case open
        case completed
        case failed
        case reversed
    }

    /// A transfer that leaves or reaches the account.
    struct Transfer: Sendable, Equatable {
        let id: String
        let reference: String
        let status: Status
        let amount: Int64
        let isOutgoing: Bool
        /// The account it leaves, if that was said.
        let source: String?
        let createdAt: Date?
        /// The account it reaches; nil when it leaves for a bank.
        var destination: String?
        /// Whom it reaches there.
        var counterparty: String?
    }

    /// Money from outside that has arrived.
    struct Payment: Sendable, Equatable {
        let id: String
        let amount: Int64
        let paidAt: Date?
        /// One of ours when money of ours came back.
        var reference: String?
    }

    /// What was taken from the account for the provider's service.
    struct Bill: Sendable, Equatable {
        /// Of the row.
        let id: String
        /// The provider's word for what it is for.
        let kind: String
        let amount: Int64
        /// Of the transfer that it is for.
        let reference: String?
        let billedAt: Date?
    }

    var transfers: [Transfer]
    var payments: [Payment]
    /// Kobo in the account.
    var ledger: Int64
    /// Kobo that may be in it or not yet.
    var pending: Int64
    /// Empty also where nobody is billed.
    var bills: [Bill] = []
}

extension TheirBooks.Transfer {
    /// Whether a look at one of these accounts shows it, as the one that it comes from; then no other has to.
    func isShown(by reconciled: Set<String>) -> Bool {
        !self.isOutgoing && self.source.map { reconciled.contains($0) } ?? false
    }
}

/// Something that the provider's books say and ours do not, or the other way round.
struct BookDifference: Sendable, Equatable {
    /// What kind; the words stand in the table.
    enum Kind: String, Sendable, CaseIterable {
        case missingWithUs = "missing_with_us"
        case missingThere = "missing_there"
        case otherAmount = "other_amount"
        case otherState = "other_state"
        case balance
    }

    let kind: Kind
    /// Our reference, the provider's id, or `balance`.
    let key: String
    let ours: String?
    let theirs: String?
    /// When it happened; nil for now.
    var happenedAt: Date?
    /// Of a balance: how much more they have than we account for, which moves no further when both go up or down.
    var gap: Int64?
}
