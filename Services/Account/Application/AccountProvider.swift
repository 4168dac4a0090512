import AnchorClient

/// What account asks of the provider.
///
/// Only jobs do.
protocol AccountProvider: Sendable {
    func createDepositAccount(
        customerID: String,
        kind: CustomerKind,
        deadline: Duration?
    ) async throws(AnchorError) -> DepositAccount
    func depositAccount(id: String, deadline: Duration?) async throws(AnchorError) -> DepositAccount
    func accounts(customerID: String, deadline: Duration?) async throws(AnchorError) -> [DepositAccount]
    func inboundPayment(id: String, deadline: Duration?) async throws(AnchorError) -> InboundPayment
    func inboundTransfers(
        accountNumberID: String,
        page: Int,
        size: Int,
        deadline: Duration?
    ) async throws(AnchorError) -> InboundPaymentPage
}

extension AnchorClient: AccountProvider {}
