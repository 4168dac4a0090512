import Foundation

/// POST /transactions/{id}/disputes: a problem with a transfer.
public struct DisputeRequest: Codable, Sendable, Hashable {
    /// `unauthorised`, `not_received`, `wrong_amount`, `wrong_recipient`, `charged_twice` or `other`.
    public var reason: String
    /// What happened, in 1 to 500 characters.
    public var text: String

    /// Puts the values together.
    public init(reason: String, text: String) {
        self.reason = reason
        self.text = text
    }
}

/// A reported problem as its reporter sees it.
public struct DisputeResource: Codable, Sendable, Hashable {
    /// The dispute.
    public var id: UUID
    /// The transfer.
    public var transactionID: UUID
    /// As it was reported.
    public var reason: String
    /// What the person wrote; nil when it cannot be read any more.
    public var text: String?
    /// `open`, `answered` or `closed`.
    public var state: String
    /// RFC 3339, UTC.
    public var openedAt: String
    /// RFC 3339, UTC; by then it is answered.
    public var dueAt: String
    /// What was found out.
    public var answer: String?
    /// RFC 3339, UTC.
    public var answeredAt: String?
    /// `refunded`, `corrected`, `explained` or `declined`; nil until it is closed.
    public var outcome: String?
    /// RFC 3339, UTC.
    public var closedAt: String?

    /// Puts the values together.
    public init(
        id: UUID,
        transactionID: UUID,
        reason: String,
        text: String? = nil,
        state: String,
        openedAt: String,
        dueAt: String,
        answer: String? = nil,
        answeredAt: String? = nil,
        outcome: String? = nil,
        closedAt: String? = nil
    ) {
        self.id = id
        self.transactionID = transactionID
        self.reason = reason
        self.text = text
        self.state = state
        self.openedAt = openedAt
        self.dueAt = dueAt
        self.answer = answer
        self.answeredAt = answeredAt
        self.outcome = outcome
        self.closedAt = closedAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case transactionID = "transaction_id"
        case reason
        case text
        case state
        case openedAt = "opened_at"
        case dueAt = "due_at"
        case answer
        case answeredAt = "answered_at"
        case outcome
        case closedAt = "closed_at"
    }
}

/// GET /transactions/{id}/disputes: all of the reader's, five at most.
public struct DisputeList: Codable, Sendable, Hashable {
    /// The newest first.
    public var data: [DisputeResource]

    /// Puts the values together.
    public init(data: [DisputeResource]) { self.data = data }
}
