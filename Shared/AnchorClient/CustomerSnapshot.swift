/// What the provider knows about a customer, without personal data.
public struct CustomerSnapshot: Sendable, Hashable {
    /// The provider's id, ending in `-anc_ind_cst` or `-anc_bus_cst`.
    public var id: String
    /// Person or business.
    public var kind: CustomerKind
    /// How far the identification is.
    public var verification: VerificationStatus
    /// What was sent as metadata at creation.
    public var metadata: [String: String]

    /// Creates a snapshot.
    public init(id: String, kind: CustomerKind, verification: VerificationStatus, metadata: [String: String] = [:]) {
        self.id = id
        self.kind = kind
        self.verification = verification
        self.metadata = metadata
    }
}

/// Person or business: decides the product of the deposit account.
public enum CustomerKind: String, Sendable, Hashable, Codable {
    /// A person.
    case individual
    /// A business.
    case business

    /// The type in requests.
    var wireType: String { self == .individual ? "IndividualCustomer" : "BusinessCustomer" }

    /// The only product the provider allows for the kind.
    var productName: String { self == .individual ? "SAVINGS" : "CURRENT" }
}

/// The state of an identification.
///
/// Unknown words are kept and mean: not decided.
public enum VerificationStatus: Sendable, Hashable {
    /// Never started.
    case unverified
    /// Running.
    case pending
    /// A person at the provider looks at it.
    case manualReview
    /// Passed: deposit accounts can be opened.
    case approved
    /// Failed.
    case rejected
    /// A word this version does not know.
    case other(String)

    init(wire: String?) {
        switch wire?.lowercased() {
        case nil, "unverified": self = .unverified
        case "pending": self = .pending
        case "pending.manual.review", "manualreview": self = .manualReview
        case "approved": self = .approved
        case "rejected": self = .rejected
        case .some(let word): self = .other(word)
        }
    }
}
