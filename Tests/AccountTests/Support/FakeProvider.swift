import EventLoops
import Primitives

@testable import AccountService
@testable import AnchorClient

/// The provider in memory: keeps what it was told and can lose an answer after acting.
final class FakeProvider: AccountProvider {
    struct State: Sendable {
        var accounts: [DepositAccount] = []
        var payments: [String: InboundPayment] = [:]
        var kinds: [CustomerKind] = []
        var paymentReads = 0
        /// Thrown once, after the call took effect.
        var loseNextAnswer = false
    }

    private let state = Locked(State())

    var accounts: [DepositAccount] { self.state.withLock { $0.accounts } }
    var kinds: [CustomerKind] { self.state.withLock { $0.kinds } }
    var paymentReads: Int { self.state.withLock { $0.paymentReads } }

    func loseNextAnswer() { self.state.withLock { $0.loseNextAnswer = true } }

    func assignNumber(_ number: String, name: String) {
        let assigned = AccountNumber(number: number, accountName: name, bankName: "Test Bank", bankCode: nil)
        self.state.withLock { state in
            for index in state.accounts.indices { state.accounts[index].number = assigned }
        }
    }

    func add(
        _ id: String,
        amount: Int64,
        on account: String?,
        isSettled: Bool = true,
        reference: String? = "17-ref"
    ) {
        let payment = InboundPayment(
            id: id,
            reference: reference,
            amount: Money(kobo: amount),
            accountID: account,
            isSettled: isSettled
        )
        self.state.withLock { $0.payments[id] = payment }
    }

    func createDepositAccount(
        customerID: String,
        kind: CustomerKind,
        deadline: Duration?
    ) async throws(AnchorError) -> DepositAccount {
        let result = self.state.withLock { state -> Result<DepositAccount, AnchorError> in
            state.kinds.append(kind)
            let opened = DepositAccount(
                id: "\(state.accounts.count + 1)-anc_acc",
                status: "ACTIVE",
                isFrozen: false,
                customerID: customerID,
                number: nil
            )
            state.accounts.append(opened)
            defer { state.loseNextAnswer = false }
            return state.loseNextAnswer ? .failure(.timedOut(sent: true)) : .success(opened)
        }
        return try result.get()
    }

    func depositAccount(id: String, deadline: Duration?) async throws(AnchorError) -> DepositAccount {
        guard let found = self.accounts.first(where: { $0.id == id }) else { throw .notFound }
        return found
    }

    func accounts(customerID: String, deadline: Duration?) async throws(AnchorError) -> [DepositAccount] {
        self.accounts.filter { $0.customerID == customerID }
    }

    func inboundPayment(id: String, deadline: Duration?) async throws(AnchorError) -> InboundPayment {
        let found = self.state.withLock { state in
            state.paymentReads += 1
            return state.payments[id]
        }
        guard let found else { throw .notFound }
        return found
    }
}
