public import Primitives

/// A deposit account at the provider.
public struct DepositAccount: Sendable, Hashable {
    /// The provider's id, ending in `-anc_acc`.
    public var id: String
    /// ACTIVE, BLOCKED, CLOSED...
    public var status: String
    /// Whether the provider has frozen it.
    public var isFrozen: Bool
    /// The owner, when the answer names one.
    public var customerID: String?
    /// The number to pay into; nil until the provider has assigned it, some time after opening.
    public var number: AccountNumber?

    /// Creates an account.
    public init(id: String, status: String, isFrozen: Bool, customerID: String?, number: AccountNumber?) {
        self.id = id
        self.status = status
        self.isFrozen = isFrozen
        self.customerID = customerID
        self.number = number
    }
}

/// A number people can pay into.
///
/// Personal data.
public struct AccountNumber: Sendable, Hashable {
    /// The provider's id of the number, ending in `-anc_acc_num`, when the answer names it.
    public var id: String?
    /// 10 digits.
    public var number: String
    /// The name the bank shows to payers.
    public var accountName: String
    /// The bank that holds the number.
    public var bankName: String
    /// The bank's NIP code.
    public var bankCode: String?

    /// Creates a number.
    public init(id: String? = nil, number: String, accountName: String, bankName: String, bankCode: String?) {
        self.id = id
        self.number = number
        self.accountName = accountName
        self.bankName = bankName
        self.bankCode = bankCode
    }
}

/// What an account holds at the provider.
public struct AccountBalance: Sendable, Hashable, Decodable {
    /// Can be spent.
    public var available: Money
    /// Everything, held and unsettled money included.
    public var ledger: Money
    /// Going out, still in process.
    public var hold: Money
    /// Coming in, not settled.
    public var pending: Money

    private enum CodingKeys: String, CodingKey {
        case available = "availableBalance"
        case ledger = "ledgerBalance"
        case hold
        case pending
    }

    /// Creates a balance.
    public init(available: Money, ledger: Money, hold: Money, pending: Money) {
        self.available = available
        self.ledger = ledger
        self.hold = hold
        self.pending = pending
    }

    /// Reads the provider's form; hold and pending may be absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.available = try container.decode(Money.self, forKey: .available)
        self.ledger = try container.decode(Money.self, forKey: .ledger)
        self.hold = try container.decodeIfPresent(Money.self, forKey: .hold) ?? .zero
        self.pending = try container.decodeIfPresent(Money.self, forKey: .pending) ?? .zero
    }
}
