import EventLoops
import Primitives

@testable import AccountService
@testable import AnchorClient

/// The provider in memory: keeps what it was told and can lose an answer after acting.
final class FakeProvider: AccountProvider {
    struct State: Sendable {
        var accounts: [DepositAccount] = []
        var payments: [String: InboundPayment] = [:]
        /// In the order in which they came.
        var paymentOrder: [String] = []
        var listsNewestFirst = true
        var pagesRead: [Int] = []
        var kinds: [CustomerKind] = []
        var paymentReads = 0
        /// Thrown once, after the call took effect.
        var loseNextAnswer = false
    }

    private let state = Locked(State())

    var accounts: [DepositAccount] { self.state.withLock { $0.accounts } }
    var kinds: [CustomerKind] { self.state.withLock { $0.kinds } }
    var paymentReads: Int { self.state.withLock { $0.paymentReads } }

    var pagesRead: [Int] { self.state.withLock { $0.pagesRead } }

    func listOldestFirst() { self.state.withLock { $0.listsNewestFirst = false } }

    private static func numberID(of account: String) -> String { "\(account)_num" }

    func loseNextAnswer() { self.state.withLock { $0.loseNextAnswer = true } }

    func assignNumber(_ number: String, name: String) {
        let assigned = AccountNumber(number: number, accountName: name, bankName: "Test Bank", bankCode: nil)
        self.state.withLock { state in
            for index in state.accounts.indices {
                var number = assigned
                number.id = Self.numberID(of: state.accounts[index].id)
                state.accounts[index].number = number
            }
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
        self.state.withLock { state in
            if state.payments.updateValue(payment, forKey: id) == nil { state.paymentOrder.append(id) }
        }
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

    func inboundTransfers(
        accountNumberID: String,
        page: Int,
        size: Int,
        deadline: Duration?
    ) async throws(AnchorError) -> InboundPaymentPage {
        self.state.withLock { state in
            state.pagesRead.append(page)
            let all = state.paymentOrder.compactMap { state.payments[$0] }.filter {
                $0.accountID.map(Self.numberID) == accountNumberID && $0.id.hasSuffix("-anc_inb_trsf")
            }
            let listed = state.listsNewestFirst ? all.reversed() : all
            return InboundPaymentPage(
                payments: Array(listed.dropFirst(page * size).prefix(size)),
                pageCount: (all.count + size - 1) / size
            )
        }
    }
}
