public import Primitives

/// An order to move money, as it is sent.
///
/// `reference` is the idempotency key too.
public struct TransferOrder: Sendable, Hashable {
    /// Where the money goes.
    public enum Destination: Sendable, Hashable {
        /// To another bank (NIP), by counterparty id.
        case counterparty(id: String)
        /// To a deposit account of the same organisation (book transfer).
        case account(id: String)
    }

    /// Ours, unique for ever: lower-case letters, digits, hyphen, underscore and space, at most 100 characters.
    public var reference: String
    /// The amount.
    public var amount: Money
    /// The sender's deposit account.
    public var sourceAccountID: String
    /// Where the money goes.
    public var destination: Destination
    /// What the recipient's bank shows; not blank, at most 100 characters.
    public var reason: String
    /// Echoed in answers.
    ///
    /// Nothing personal belongs in it.
    public var metadata: [String: String]?

    /// Creates an order.
    public init(
        reference: String,
        amount: Money,
        sourceAccountID: String,
        destination: Destination,
        reason: String,
        metadata: [String: String]? = nil
    ) {
        self.reference = reference
        self.amount = amount
        self.sourceAccountID = sourceAccountID
        self.destination = destination
        self.reason = reason
        self.metadata = metadata
    }

    /// The rail the destination means.
    public var rail: TransferRail {
        switch self.destination {
        case .counterparty: .nip
        case .account: .book
        }
    }
}

/// How money moves.
public enum TransferRail: String, Sendable, Hashable, Codable {
    /// To another bank.
    case nip
    /// Inside the organisation.
    case book

    /// The type in requests.
    ///
    /// Answers say NIP_TRANSFER and BOOK_TRANSFER.
    var requestType: String { self == .nip ? "NIPTransfer" : "BookTransfer" }

    init?(responseType: String?) {
        switch responseType {
        case "NIP_TRANSFER", "NIPTransfer": self = .nip
        case "BOOK_TRANSFER", "BookTransfer": self = .book
        default: return nil
        }
    }
}
