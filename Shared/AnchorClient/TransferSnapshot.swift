public import Foundation
public import Primitives

/// The provider's record of a transfer at one moment.
public struct TransferSnapshot: Sendable, Hashable {
    /// The provider's id, ending in `-anc_trsf`.
    public var id: String
    /// Our reference.
    public var reference: String
    /// The rail; nil for a type this version does not know.
    public var rail: TransferRail?
    /// The amount.
    public var amount: Money
    /// How far it is.
    public var status: TransferStatus
    /// When the provider made it, if it said so readably.
    public var createdAt: Date?
    /// The NIP session id, if any.
    public var sessionID: String?
    /// The deposit account the money leaves, when the answer names it.
    public var sourceAccountID: String?
    /// The deposit account it reaches, for one that stays inside the organisation.
    public var destinationAccountID: String?
    /// The counterparty it reaches, for one that leaves for a bank.
    public var counterpartyID: String?

    /// Creates a snapshot.
    public init(
        id: String,
        reference: String,
        rail: TransferRail?,
        amount: Money,
        status: TransferStatus,
        createdAt: Date? = nil,
        sessionID: String? = nil,
        sourceAccountID: String? = nil,
        destinationAccountID: String? = nil,
        counterpartyID: String? = nil
    ) {
        self.id = id
        self.reference = reference
        self.rail = rail
        self.amount = amount
        self.status = status
        self.createdAt = createdAt
        self.sessionID = sessionID
        self.sourceAccountID = sourceAccountID
        self.destinationAccountID = destinationAccountID
        self.counterpartyID = counterpartyID
    }
}

/// One page of the transfers of an account, in an order that the provider does not promise.
public struct TransferPage: Sendable, Hashable {
    /// The transfers.
    public var transfers: [TransferSnapshot]
    /// Whether there is another page.
    public var hasMore: Bool
}

/// Which side of transfers an account is on.
public enum TransferSide: String, Sendable, Hashable {
    /// The money leaves it.
    case source = "accountId"
    /// The money reaches it from inside the organisation.
    case destination = "destinationAccountId"
}

/// How far a transfer is.
///
/// Completed is not final: it may become reversed. A word this version does not know means that the transfer is still
/// open, never that it failed.
public enum TransferStatus: Sendable, Hashable {
    /// In process.
    case pending
    /// The money arrived, for now.
    case completed
    /// The money did not leave. `reason` is the provider's code, if it gave one.
    case failed(reason: String?)
    /// The money had arrived and came back.
    case reversed
    /// Any other word, kept. Still open: ask again.
    case open(other: String)

    /// Reads the provider's word, in any case.
    public init(wire: String, failureReason: String? = nil) {
        switch wire.uppercased() {
        case "PENDING": self = .pending
        case "COMPLETED": self = .completed
        case "FAILED": self = .failed(reason: failureReason)
        case "REVERSED": self = .reversed
        default: self = .open(other: wire)
        }
    }

    /// Whether nothing is decided yet.
    public var isOpen: Bool {
        switch self {
        case .pending, .open: true
        case .completed, .failed, .reversed: false
        }
    }
}

/// An id, if it looks like one; what does not could not be stored, or would be taken for another.
func idOnly(_ id: String?) -> String? {
    guard let id, (1...128).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
        return nil
    }
    return id
}

/// Keeps a reason that looks like a code; anything else could quote a person's data.
func codeOnly(_ reason: String?) -> String? {
    guard let reason, (1...64).contains(reason.utf8.count) else { return nil }
    let isCode = reason.utf8.allSatisfy { byte in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return isCode ? reason : nil
}
