/// A customer of the organisation.
struct Customer: Codable, Sendable {
    var id: String
    var isBusiness: Bool
    var name: String
    var email: String
    /// The attributes as sent, for echoing: JSON text.
    var attributes: String
    var verification = "unverified"
    /// What the running identification will come to, decided when it started.
    var plan: VerificationPlan?
    var createdAt: Int64

    var type: String { self.isBusiness ? "BusinessCustomer" : "IndividualCustomer" }
}

/// What an identification comes to; the raw value ends the event's name.
enum VerificationPlan: String, Codable, Sendable {
    case approved
    case rejected
    case manualReview
    case awaitingDocument
    case error
    case reenterInformation = "reenter_information"
    case never

    /// The customer's status afterwards.
    var status: String {
        switch self {
        case .approved: "approved"
        case .rejected: "rejected"
        case .manualReview: "pending.manual.review"
        case .awaitingDocument, .never: "pending"
        case .error, .reenterInformation: "unverified"
        }
    }
}

/// A document that is wanted of a customer, or was handed in; of its content only the hash is kept.
struct RequiredDocument: Codable, Sendable {
    var id: String
    var customerID: String
    var type: String
    var isText: Bool
    var isSubmitted = false
    var isVerified = false
    var digest: String?
}

/// A deposit account.
///
/// `available` is `ledger - hold`.
struct Account: Codable, Sendable {
    var id: String
    var customerID: String?
    var name: String
    var product: String
    var number: String
    var isNumbered = false
    var isFrozen = false
    var ledger: Int64 = 0
    var hold: Int64 = 0
    var pending: Int64 = 0
    var createdAt: Int64

    var available: Int64 { self.ledger - self.hold }
}

/// A bank account elsewhere.
struct Counterparty: Codable, Sendable {
    var id: String
    var bankCode: String
    var accountName: String
    var accountNumber: String
    var isRemoved = false
    var createdAt: Int64

    var key: String { "\(self.bankCode)/\(self.accountNumber)" }
}

/// A transfer that was taken.
struct Transfer: Codable, Sendable {
    enum Rail: String, Codable, Sendable {
        case nip
        case book
    }

    enum Status: String, Codable, Sendable {
        case pending = "PENDING"
        case completed = "COMPLETED"
        case failed = "FAILED"
        case reversed = "REVERSED"
    }

    var id: String
    var reference: String
    var idempotencyKey: String?
    var rail: Rail
    var amount: Int64
    var reason: String
    var sourceID: String
    /// Counterparty or deposit account.
    var destinationID: String
    var metadata: [String: String]
    var status = Status.pending
    var failureReason: String?
    /// Whether the amount is held: not when funds were missing and the answer is to be a later failure.
    var isHeld: Bool
    var plan: TransferPlan
    var createdAt: Int64
}

/// What becomes of a transfer, decided when it was taken.
struct TransferPlan: Codable, Sendable {
    enum Outcome: String, Codable, Sendable, CaseIterable {
        case completed
        case failed
        case reversed
        /// Stays pending until the control API decides.
        case never
    }

    var outcome: Outcome
    var failureReason: String?
    var delay: Int64
    var reversalDelay: Int64
}

/// Money that came in from a bank.
struct InboundPayment: Codable, Sendable {
    var id: String
    var reference: String
    var accountID: String
    var amount: Int64
    var payerName: String
    var payerNumber: String
    var narration: String
    var events: InboundEvents
    var isWrapped: Bool?
    var settleDelay: Int64
    var isSettled = false
    var createdAt: Int64

    /// The id of the same money as a payment.
    var twinID: String { (self.id.split(separator: "-").first.map(String.init) ?? self.id) + "-anc_py" }
}

/// What the provider took for its service, by a row of its own.
struct Bill: Codable, Sendable {
    /// The provider's words.
    enum Kind: String, Codable, Sendable {
        case transferFee = "TRANSFER_FEE"
        case stampDuty = "STAMP_DUTY"
        case identity = "KYC_TIER_2"
    }

    /// Of the row.
    var id: String
    var accountID: String
    var kind: Kind
    var amount: Int64
    /// Of the transfer that it is for, or the customer's id.
    var reference: String
    var narration: String
    var createdAt: Int64
}

/// Which events tell of an inbound payment.
enum InboundEvents: String, Codable, Sendable {
    /// `payment.received`, then `payment.settled`.
    case payment
    /// `nip.inbound.received`, then `nip.inbound.completed`.
    case nip
    /// All four.
    case both
    /// All four; those of the payment call it by its other id, as a payment.
    case twin
    /// `payment.settled` three times with three event ids.
    case repeated
    /// None: found by polling only.
    case none
}

/// A webhook event, kept until delivered or given up.
struct Event: Codable, Sendable {
    var id: String
    var type: String
    /// The content without wrapper: JSON text.
    var content: String
    /// The related resource, for targets that want them: JSON text of an array.
    var included: String?
    /// Overrides the switch.
    var isWrapped: Bool?
    /// What it is about: events of one subject are delivered in order unless a switch says otherwise.
    var subject: String
    var createdAt: Int64
}
