/// Which total a movement counts in.
enum Direction: String, Hashable, Sendable, CaseIterable {
    /// Came into the wallet.
    case inWallet = "in_wallet"
    /// Came to the user's bank, past the wallet.
    case inBank = "in_bank"
    /// Was sent.
    case moneyOut = "money_out"
    /// Was charged: fee and duty.
    case fees
}
