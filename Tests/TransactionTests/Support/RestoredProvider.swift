import AnchorClient
import EventLoops
import Foundation
import Primitives

@testable import TransactionService

/// A provider that has gone on while our ledger was restored to an earlier moment.
struct RestoredProvider: ProviderBooks, TransferProvider {
    private struct State {
        var transfers: [TransferSnapshot] = []
        var payments: [String: [TheirBooks.Payment]] = [:]
        var bills: [String: [TheirBooks.Bill]] = [:]
        var balances: [String: Int64] = [:]
        var orders: [String] = []
        var tooLong: Set<String> = []
        var unlisted: Set<String> = []
    }

    private let state = Locked<State>(State())

    /// References of the transfers that it was told to make.
    var orders: [String] { self.state.withLock { $0.orders } }

    /// Money comes from outside.
    func receives(_ account: String, _ amount: Int64, _ id: String, at moment: Date) {
        self.state.withLock { state in
            state.payments[account, default: []].append(.init(id: id, amount: amount, paidAt: moment))
            state.balances[account, default: 0] += amount
        }
    }

    /// It takes something for its service.
    func bills(_ account: String, _ kind: String, _ amount: Int64, for reference: String? = nil, at moment: Date) {
        self.state.withLock { state in
            let id = "\(account)\(state.bills[account]?.count ?? 0)-anc_txn"
            let bill = TheirBooks.Bill(id: id, kind: kind, amount: amount, reference: reference, billedAt: moment)
            state.bills[account, default: []].append(bill)
            state.balances[account, default: 0] -= amount
        }
    }

    /// An account has more than anybody reads.
    func listsTooMuch(of account: String) {
        self.state.withLock { _ = $0.tooLong.insert(account) }
    }

    /// It has no such transfer any more.
    func forgets(_ reference: String) {
        self.state.withLock { $0.transfers.removeAll { $0.reference == reference } }
    }

    /// Its balance of an account differs, and nothing that it lists says why.
    func differs(_ account: String, by amount: Int64) {
        self.state.withLock { $0.balances[account, default: 0] += amount }
    }

    /// It has made a transfer, or is about to; `bank` is whom it pays outside.
    func moves(
        _ reference: String,
        _ amount: Int64,
        from source: String,
        to destination: String? = nil,
        bank: String? = nil,
        status: TransferStatus = .completed,
        at moment: Date
    ) {
        let transfer = TransferSnapshot(
            id: "\(reference)-anc_trsf",
            reference: reference,
            rail: destination == nil ? .nip : .book,
            amount: Money(kobo: amount),
            status: status,
            createdAt: moment,
            sourceAccountID: source,
            destinationAccountID: destination,
            counterpartyID: bank
        )
        self.state.withLock { state in
            state.transfers.removeAll { $0.id == transfer.id }
            state.transfers.append(transfer)
            guard status == .completed else { return }
            state.balances[source, default: 0] -= amount
            if let destination { state.balances[destination, default: 0] += amount }
        }
    }

    /// It takes back a transfer that was completed.
    func takesBack(_ reference: String) {
        self.state.withLock { state in
            for index in state.transfers.indices where state.transfers[index].reference == reference {
                let transfer = state.transfers[index]
                state.transfers[index].status = .reversed
                if let source = transfer.sourceAccountID { state.balances[source, default: 0] += transfer.amount.kobo }
                if let destination = transfer.destinationAccountID {
                    state.balances[destination, default: 0] -= transfer.amount.kobo
                }
            }
        }
    }

    /// It leaves a transfer out of its lists, and has it when it is asked for it.
    func leavesOut(_ reference: String) { self.state.withLock { _ = $0.unlisted.insert(reference) } }

    // MARK: What the service asks

    var isAvailable: Bool { true }

    func read(_ account: String, since: Date, billsSince: Date) async throws -> TheirBooks {
        try self.state.withLock { state in
            guard !state.tooLong.contains(account) else { throw TooManyRows() }
            let listed = state.transfers.filter { transfer in
                transfer.createdAt.map { $0 >= since } ?? true && !state.unlisted.contains(transfer.reference)
            }
            let paid = listed.filter { $0.sourceAccountID == account }
            let received = listed.filter { $0.destinationAccountID == account }
            return TheirBooks(
                transfers: paid.map { .init($0, isOutgoing: true) } + received.map { .init($0, isOutgoing: false) },
                payments: state.payments[account] ?? [],
                ledger: state.balances[account] ?? 0,
                pending: 0,
                bills: (state.bills[account] ?? []).filter { ($0.billedAt ?? billsSince) >= billsSince }
            )
        }
    }

    func bills(of account: String, since: Date) async throws -> [TheirBooks.Bill] {
        try self.state.withLock { state in
            guard !state.tooLong.contains(account) else { throw TooManyRows() }
            return (state.bills[account] ?? []).filter { ($0.billedAt ?? since) >= since }
        }
    }

    func createTransfer(_ order: TransferOrder, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot {
        self.state.withLock { $0.orders.append(order.reference) }
        return TransferSnapshot(
            id: "\(order.reference)-anc_trsf",
            reference: order.reference,
            rail: order.rail,
            amount: order.amount,
            status: .completed
        )
    }

    func transfer(reference: String, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot? {
        self.state.withLock { state in state.transfers.first { $0.reference == reference } }
    }
}
