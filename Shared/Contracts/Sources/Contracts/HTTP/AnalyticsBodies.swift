/// GET /analytics/summary: money in against money out.
public struct AnalyticsSummary: Codable, Sendable, Hashable {
    /// First day, yyyy-MM-dd, Lagos.
    public var from: String
    /// Last day, yyyy-MM-dd, Lagos.
    public var to: String
    /// Kobo, wallet and bank together.
    public var moneyIn: Int64
    /// Kobo that arrived in the wallet.
    public var inWallet: Int64
    /// Kobo that arrived at the user's bank.
    public var inBank: Int64
    /// Kobo sent.
    public var moneyOut: Int64
    /// Kobo of fees and duty.
    public var fees: Int64

    /// Puts the values together.
    public init(
        from: String,
        to: String,
        moneyIn: Int64,
        inWallet: Int64,
        inBank: Int64,
        moneyOut: Int64,
        fees: Int64
    ) {
        self.from = from
        self.to = to
        self.moneyIn = moneyIn
        self.inWallet = inWallet
        self.inBank = inBank
        self.moneyOut = moneyOut
        self.fees = fees
    }

    private enum CodingKeys: String, CodingKey {
        case from
        case to
        case moneyIn = "money_in"
        case inWallet = "in_wallet"
        case inBank = "in_bank"
        case moneyOut = "money_out"
        case fees
    }
}
