import AnchorClient

/// What customer asks of the provider.
///
/// Only jobs do.
protocol CustomerProvider: Sendable {
    func createIndividualCustomer(
        _ customer: IndividualCustomer,
        deadline: Duration?
    ) async throws(AnchorError) -> CustomerSnapshot
    func createBusinessCustomer(
        _ customer: BusinessCustomer,
        deadline: Duration?
    ) async throws(AnchorError) -> CustomerSnapshot
    func updateIndividualCustomer(
        id: String,
        _ customer: IndividualCustomer,
        deadline: Duration?
    ) async throws(AnchorError)
    func updateBusinessCustomer(id: String, _ customer: BusinessCustomer, deadline: Duration?) async throws(AnchorError)
    func customer(id: String, deadline: Duration?) async throws(AnchorError) -> CustomerSnapshot
    func findCustomer(email: String, deadline: Duration?) async throws(AnchorError) -> CustomerSnapshot?
    func startIndividualVerification(
        customerID: String,
        _ verification: IndividualVerification,
        deadline: Duration?
    ) async throws(AnchorError)
    func startBusinessVerification(customerID: String, deadline: Duration?) async throws(AnchorError)
    func banks(deadline: Duration?) async throws(AnchorError) -> [Bank]
    func verifyAccount(bank: String, number: String, deadline: Duration?) async throws(AnchorError) -> String?
    func documents(customerID: String, deadline: Duration?) async throws(AnchorError) -> [CustomerDocument]
    func uploadDocument(
        customerID: String,
        documentID: String,
        _ content: DocumentContent,
        deadline: Duration?
    ) async throws(AnchorError)
    func createCounterparty(_ draft: CounterpartyDraft, deadline: Duration?) async throws(AnchorError) -> Counterparty
}

extension AnchorClient: CustomerProvider {}

/// The provider's words where contracts use the same ones.
typealias ProviderAddress = PostalAddress

extension AnchorError {
    /// Whether a customer with this e-mail address exists.
    var saysAlreadyExists: Bool {
        guard case .refused(_, _, let code) = self else { return false }
        return code == .alreadyExists
    }

    /// Whether the customer is verified, so that nothing about the customer can be changed.
    var saysVerified: Bool {
        guard case .refused(_, _, let code) = self else { return false }
        return code == .precondition
    }
}
