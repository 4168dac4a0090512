/// Whose account the provider debits for its service.
struct ProviderBilling: Sendable, Equatable {
    /// Who is debited; the words are those of the setting.
    enum Payer: String, Sendable {
        /// No bill is read.
        case nobody = "none"
        case customers
        case organisation
    }

    let payer: Payer
    /// The organisation's account that is debited; the ledger knows of its bills alone.
    let account: String?

    /// Nobody is billed.
    static let nobody = ProviderBilling(payer: .nobody, account: nil)
}
