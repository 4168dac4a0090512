public import Foundation
public import Primitives

/// One event from the provider's webhook: ids and words only, no personal data.
///
/// Verify the signature over the raw bytes first, and re-read what it names by id before acting on money.
public struct WebhookEvent: Sendable, Hashable {
    /// The event's id, ending in `-anc_et`: dedupe on it.
    public var id: String
    /// The event's name as sent.
    public var type: String
    /// When the provider made it, if said readably.
    public var createdAt: Date?
    /// What it says.
    public var fact: Fact

    /// What an event says.
    public enum Fact: Sendable, Hashable {
        /// `nip.transfer.*` and `book.transfer.*`.
        case transfer(TransferFact)
        /// `customer.identification.*`.
        case identification(customerID: String, IdentificationOutcome)
        /// `document.rejected`: another is wanted.
        case documentRejected(customerID: String)
        /// `account.opened`.
        case accountOpened(accountID: String, customerID: String?)
        /// `accountNumber.created`.
        case accountNumberCreated(accountID: String, customerID: String?)
        /// `payment.received`, `payment.settled`, `nip.inbound.*`.
        case payment(PaymentFact)
        /// A name this version does not know, or a known one without the id it needs. To be acknowledged.
        case other
    }

    /// What an event says about a transfer.
    public struct TransferFact: Sendable, Hashable {
        /// The provider's id of the transfer.
        public var transferID: String
        /// Our reference, when the event came with the transfer included.
        public var reference: String?
        /// The rail.
        public var rail: TransferRail
        /// The outcome the event's name states.
        public var outcome: TransferOutcome
        /// The provider's code, when it looks like one.
        public var failureReason: String?
    }

    /// The last word of a transfer event's name.
    public enum TransferOutcome: String, Sendable, Hashable {
        /// Taken.
        case initiated
        /// Arrived.
        case successful
        /// Did not leave.
        case failed
        /// Came back.
        case reversed
    }

    /// The last word of an identification event's name.
    public enum IdentificationOutcome: String, Sendable, Hashable {
        /// Passed.
        case approved
        /// Failed.
        case rejected
        /// The provider could not do it; try again.
        case error
        /// A person looks at it.
        case manualReview
        /// The data must be entered again.
        case reenterInformation = "reenter_information"
        /// Documents are wanted.
        case awaitingDocument
        /// Running.
        case pending
    }

    /// What an event says about a payment that came in.
    ///
    /// Several events, with ids of their own, tell of one payment.
    public struct PaymentFact: Sendable, Hashable {
        /// The provider's id of the payment: credit once per id.
        public var paymentID: String
        /// The deposit account, when named.
        public var accountID: String?
        /// The amount, when named.
        ///
        /// Not to be credited unread.
        public var amount: Money?
        /// Whether the money is there to spend (`settled`, `completed`) or only announced.
        public var isSettled: Bool
    }
}

/// Bytes that are not an event.
public struct WebhookEventError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, without the bytes.
    public var description: String
}
