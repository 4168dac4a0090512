import AnchorClient
import EventLoops
import Foundation

@testable import CustomerService

/// The provider in memory: keeps what it was told and can lose an answer after acting.
final class FakeProvider: CustomerProvider {
    struct State: Sendable {
        var customers: [(email: String, snapshot: CustomerSnapshot)] = []
        var verificationsStarted: [String] = []
        /// Address and last name, or name of the business, of each update.
        var updates: [String] = []
        var counterparties: [String: Counterparty] = [:]
        var accounts: [String: String] = [:]
        var banks = [
            Bank(id: "1-anc_bk", name: "Test Bank", nipCode: "000014"),
            Bank(id: "2-anc_bk", name: "Short", nipCode: "57"),
        ]
        var documents: [CustomerDocument] = []
        /// What was handed in, in order.
        var uploads: [DocumentContent] = []
        /// Thrown once, after the call took effect.
        var loseNextAnswer = false
        /// Called once, before a customer is made.
        var beforeCreation: (@Sendable () async -> Void)?
        /// Called once, before a holder is named.
        var beforeEnquiry: (@Sendable () async -> Void)?
        /// Thrown instead of taking effect.
        var refuseNext: AnchorError?
    }

    private let state = Locked(State())

    var customers: [CustomerSnapshot] { self.state.withLock { $0.customers.map(\.snapshot) } }
    var emails: [String] { self.state.withLock { $0.customers.map(\.email) } }
    var verificationsStarted: [String] { self.state.withLock { $0.verificationsStarted } }
    var updates: [String] { self.state.withLock { $0.updates } }
    var counterpartyCount: Int { self.state.withLock { $0.counterparties.count } }

    func loseNextAnswer() { self.state.withLock { $0.loseNextAnswer = true } }
    func refuseNext(_ error: AnchorError) { self.state.withLock { $0.refuseNext = error } }
    func onNextCreation(_ body: @escaping @Sendable () async -> Void) {
        self.state.withLock { $0.beforeCreation = body }
    }
    func onNextEnquiry(_ body: @escaping @Sendable () async -> Void) {
        self.state.withLock { $0.beforeEnquiry = body }
    }

    func addAccount(_ number: String, holder: String) { self.state.withLock { $0.accounts[number] = holder } }

    func addCustomer(email: String, metadata: [String: String]) {
        _ = self.state.withLock { $0.add(email, .individual, metadata) }
    }

    func setVerification(_ status: VerificationStatus) {
        self.state.withLock { state in
            for index in state.customers.indices { state.customers[index].snapshot.verification = status }
        }
    }

    func createIndividualCustomer(
        _ customer: IndividualCustomer,
        deadline: Duration?
    ) async throws(AnchorError) -> CustomerSnapshot {
        await self.state.withLock { $0.beforeCreation.take() }?()
        return try self.create(customer.email, .individual, customer.metadata)
    }

    func createBusinessCustomer(
        _ customer: BusinessCustomer,
        deadline: Duration?
    ) async throws(AnchorError) -> CustomerSnapshot {
        try self.create(customer.contact.email, .business, customer.metadata)
    }

    private func create(
        _ email: String,
        _ kind: CustomerKind,
        _ metadata: [String: String]?
    ) throws(AnchorError) -> CustomerSnapshot {
        let result = self.state.withLock { state -> Result<CustomerSnapshot, AnchorError> in
            if let refusal = state.takeRefusal() { return .failure(refusal) }
            guard !state.customers.contains(where: { $0.email == email }) else {
                return .failure(.refused(status: 400, title: "Bad Request", code: .alreadyExists))
            }
            let snapshot = state.add(email, kind, metadata ?? [:])
            return state.takeLoss() ? .failure(.timedOut(sent: true)) : .success(snapshot)
        }
        return try result.get()
    }

    func updateIndividualCustomer(
        id: String,
        _ customer: IndividualCustomer,
        deadline: Duration?
    ) async throws(AnchorError) {
        try self.update(id, customer.email, customer.fullName.lastName)
    }

    func updateBusinessCustomer(
        id: String,
        _ customer: BusinessCustomer,
        deadline: Duration?
    ) async throws(AnchorError) {
        try self.update(id, customer.contact.email, customer.detail.businessName)
    }

    private func update(_ id: String, _ email: String, _ name: String) throws(AnchorError) {
        let result = self.state.withLock { state -> Result<Void, AnchorError> in
            if let refusal = state.takeRefusal() { return .failure(refusal) }
            guard !state.customers.contains(where: { $0.email == email && $0.snapshot.id != id }) else {
                return .failure(.refused(status: 400, title: "Bad Request", code: .alreadyExists))
            }
            for index in state.customers.indices where state.customers[index].snapshot.id == id {
                guard state.customers[index].snapshot.verification != .approved else {
                    return .failure(.refused(status: 412, title: "Precondition Failed", code: .precondition))
                }
                state.customers[index].email = email
            }
            state.updates.append("\(email) \(name)")
            return .success(())
        }
        try result.get()
    }

    func customer(id: String, deadline: Duration?) async throws(AnchorError) -> CustomerSnapshot {
        guard let found = self.customers.first(where: { $0.id == id }) else { throw .notFound }
        return found
    }

    func findCustomer(email: String, deadline: Duration?) async throws(AnchorError) -> CustomerSnapshot? {
        self.state.withLock { state in state.customers.first { $0.email == email }?.snapshot }
    }

    func startIndividualVerification(
        customerID: String,
        _ verification: IndividualVerification,
        deadline: Duration?
    ) async throws(AnchorError) {
        try self.start(customerID)
    }

    func startBusinessVerification(customerID: String, deadline: Duration?) async throws(AnchorError) {
        try self.start(customerID)
    }

    private func start(_ customerID: String) throws(AnchorError) {
        let result = self.state.withLock { state -> Result<Void, AnchorError> in
            state.verificationsStarted.append(customerID)
            for index in state.customers.indices where state.customers[index].snapshot.id == customerID {
                state.customers[index].snapshot.verification = .pending
            }
            return state.takeLoss() ? .failure(.timedOut(sent: true)) : .success(())
        }
        try result.get()
    }

    func banks(deadline: Duration?) async throws(AnchorError) -> [Bank] {
        let result = self.state.withLock { state -> Result<[Bank], AnchorError> in
            state.takeRefusal().map { .failure($0) } ?? .success(state.banks)
        }
        return try result.get()
    }

    var uploads: [DocumentContent] { self.state.withLock { $0.uploads } }

    func setDocuments(_ documents: [CustomerDocument]) { self.state.withLock { $0.documents = documents } }

    func documents(customerID: String, deadline: Duration?) async throws(AnchorError) -> [CustomerDocument] {
        let result = self.state.withLock { state -> Result<[CustomerDocument], AnchorError> in
            state.takeRefusal().map { .failure($0) } ?? .success(state.documents)
        }
        return try result.get()
    }

    func uploadDocument(
        customerID: String,
        documentID: String,
        _ content: DocumentContent,
        deadline: Duration?
    ) async throws(AnchorError) {
        let result = self.state.withLock { state -> Result<Void, AnchorError> in
            if let refusal = state.takeRefusal() { return .failure(refusal) }
            guard let index = state.documents.firstIndex(where: { $0.id == documentID }) else {
                return .failure(.notFound)
            }
            state.documents[index].isSubmitted = true
            state.uploads.append(content)
            return state.takeLoss() ? .failure(.timedOut(sent: true)) : .success(())
        }
        try result.get()
    }

    func setBanks(_ banks: [Bank]) { self.state.withLock { $0.banks = banks } }

    func verifyAccount(bank: String, number: String, deadline: Duration?) async throws(AnchorError) -> String? {
        await self.state.withLock { $0.beforeEnquiry.take() }?()
        let result = self.state.withLock { state -> Result<String?, AnchorError> in
            state.takeRefusal().map { .failure($0) } ?? .success(state.accounts[number])
        }
        return try result.get()
    }

    func createCounterparty(_ draft: CounterpartyDraft, deadline: Duration?) async throws(AnchorError) -> Counterparty {
        let result = self.state.withLock { state -> Result<Counterparty, AnchorError> in
            if let refusal = state.takeRefusal() { return .failure(refusal) }
            let key = "\(draft.bankCode)/\(draft.accountNumber)"
            let made =
                state.counterparties[key]
                ?? Counterparty(id: "\(state.counterparties.count + 1)-anc_cp", accountName: draft.accountName)
            state.counterparties[key] = made
            return state.takeLoss() ? .failure(.connectionLost(sent: true)) : .success(made)
        }
        return try result.get()
    }
}

extension FakeProvider.State {
    mutating func add(_ email: String, _ kind: CustomerKind, _ metadata: [String: String]) -> CustomerSnapshot {
        let id = "\(self.customers.count + 1)-anc_ind_cst"
        let snapshot = CustomerSnapshot(id: id, kind: kind, verification: .unverified, metadata: metadata)
        self.customers.append((email, snapshot))
        return snapshot
    }

    mutating func takeLoss() -> Bool {
        defer { self.loseNextAnswer = false }
        return self.loseNextAnswer
    }

    mutating func takeRefusal() -> AnchorError? {
        defer { self.refuseNext = nil }
        return self.refuseNext
    }
}
