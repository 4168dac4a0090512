/// The services that publish or consume events.
public enum ServiceName: String, CaseIterable, Codable, Sendable {
    /// Sign-up, PIN, device keys, approvals, the users' data keys.
    case auth
    /// Users, verification at the provider, beneficiaries, settings, restrictions.
    case customer
    /// Deposit accounts and funding details.
    case account
    /// The ledger, routing and transfers.
    case transaction
    /// Plans, periods and renewals.
    case subscription
    /// Webhooks in; inbox, push and live stream out.
    case notification
    /// Money in and out, categories, statements.
    case analytics
    /// The archive of all events, for operators.
    case console
}
