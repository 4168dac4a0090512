import AnchorClient
import EventLoops
import Foundation
import Primitives

@testable import TransactionService

/// A provider with books of its own, as rude as the real one may be.
///
/// It knows nothing of our ledger: accounts with balances, the transfers that it has taken, the payments that came in. What
/// becomes of an order is said before it comes (`Fate`), so that the same seed gives the same world.
struct RudeProvider: ProviderBooks, TransferProvider {
    /// What becomes of an order.
    enum Fate: CaseIterable {
        /// Done, and said so.
        case completes
        /// Taken, and decided later.
        case pends
        /// Not taken, in words that are certain.
        case refuses
        /// Not taken, in words that say nothing.
        case refusesStrangely
        /// The question was never answered, and the order not taken.
        case isLostBefore
        /// Taken and done, and the answer lost.
        case isLostAfter
        /// Taken, and answered as if it had been taken before.
        case isTakenTwice
        /// Taken a while after it was given up.
        case comesLate
    }

    /// What it says by itself; whether anybody hears it is another matter.
    enum Message: Sendable {
        case ended(reference: String, id: String, TransferStatus)
        case paid(id: String, account: String, amount: Int64, reference: String?)
    }

    fileprivate struct State {
        var balances: [String: Int64] = [:]
        var transfers: [String: TransferSnapshot] = [:]
        var order: [String] = []
        var late: [(order: TransferOrder, madeAt: Date)] = []
        var payments: [(id: String, account: String, amount: Int64, reference: String?, at: Date)] = []
        var bills: [(account: String, bill: TheirBooks.Bill)] = []
        var fates: [String: Fate] = [:]
        var messages: [Message] = []
        var number = 0
        var isDeaf = false
    }

    private let state = Locked<State>(State())
    private let clock: any TimeSource

    init(clock: any TimeSource) { self.clock = clock }

    // MARK: What happens there

    /// Says what will become of an order.
    func destine(_ reference: String, _ fate: Fate) { self.state.withLock { $0.fates[reference] = fate } }

    /// Answers no question for a while.
    func becomes(deaf: Bool) { self.state.withLock { $0.isDeaf = deaf } }

    func balance(_ account: String) -> Int64 { self.state.withLock { $0.balances[account] ?? 0 } }

    /// Everything that it knows about an account, a line each.
    func lines(of account: String) -> [String] {
        self.state.withLock { state in
            state.order.compactMap { state.transfers[$0] }
                .filter { $0.sourceAccountID == account || $0.destinationAccountID == account }
                .map {
                    "\($0.reference) \($0.status) \($0.amount.kobo) \($0.sourceAccountID == account ? "out" : "in")"
                }
                + state.payments.filter { $0.account == account }.map { "\($0.id) payment \($0.amount)" }
        }
    }

    /// Kobo that it has taken from an account for its service.
    func billed(_ account: String) -> Int64 {
        self.state.withLock { $0.bills.filter { $0.account == account }.reduce(0) { $0 + $1.bill.amount } }
    }

    /// References of what is pending, oldest first.
    var pending: [String] { self.references { $0 == .pending } }

    /// Whether it has an order that it did not decide, or will have one that was given up.
    func isUndecided(_ reference: String) -> Bool {
        self.state.withLock { state in
            state.transfers[reference]?.status == .pending || state.late.contains { $0.order.reference == reference }
        }
    }

    /// References of what is completed, oldest first.
    var completed: [String] { self.references { $0 == .completed } }

    private func references(_ matches: (TransferStatus) -> Bool) -> [String] {
        self.state.withLock { state in
            state.order.filter { state.transfers[$0].map { matches($0.status) } ?? false }
                .sorted { state.rank(of: $0) < state.rank(of: $1) }
        }
    }

    /// Money comes from outside; under a reference when the payer's bank sends one back.
    func receives(_ account: String, _ amount: Int64, reference: String? = nil) {
        let now = self.clock.now
        self.state.withLock { $0.take(account, amount, reference, at: now) }
    }

    /// Something pending ends.
    func ends(_ reference: String, _ status: TransferStatus) {
        self.state.withLock { state in
            guard state.transfers[reference]?.status == .pending else { return }
            state.end(reference, status)
        }
    }

    /// Takes back what is completed, at any later time; with the bank's own payment or without.
    func takesBack(_ reference: String, showingPayment: Bool) {
        let now = self.clock.now
        self.state.withLock { state in
            guard let transfer = state.transfers[reference], transfer.status == .completed else { return }
            state.move(transfer, by: -1)
            state.transfers[reference]?.status = .reversed
            state.messages.append(.ended(reference: reference, id: transfer.id, .reversed))
            guard showingPayment, transfer.destinationAccountID == nil, let source = transfer.sourceAccountID
            else { return }
            // The same kobo, shown once more as a payment.
            state.balances[source, default: 0] -= transfer.amount.kobo
            state.take(source, transfer.amount.kobo, reference, at: now)
        }
    }

    /// What was given up arrives after all: all of it, or what was made before a moment.
    func lateOnesArrive(madeBefore moment: Date = .distantFuture) {
        let now = self.clock.now
        self.state.withLock { state in
            // What was sent again meanwhile is known by its reference, and taken once.
            for late in state.late where late.madeAt < moment && state.transfers[late.order.reference] == nil {
                state.take(late.order, .completed, at: now)
            }
            state.late.removeAll { $0.madeAt < moment }
        }
    }

    /// Everything that it has said and nobody was told.
    func messages() -> [Message] {
        self.state.withLock { state in
            defer { state.messages = [] }
            return state.messages.sorted { state.rank(of: $0) < state.rank(of: $1) }
        }
    }

    // MARK: What the service asks

    var isAvailable: Bool { true }

    func createTransfer(_ order: TransferOrder, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot {
        let now = self.clock.now
        let answer: Result<TransferSnapshot, AnchorError> = self.state.withLock { state in
            if let known = state.transfers[order.reference] { return .success(known) }
            let fate = state.fates.removeValue(forKey: order.reference) ?? .completes
            let covers = (state.balances[order.sourceAccountID] ?? 0) - state.onHold(order.sourceAccountID)
            switch fate {
            case .refuses,
                _ where covers < order.amount.kobo:
                return .failure(.refused(status: 400, title: "Bad Request", code: .insufficientFunds))
            case .refusesStrangely: return .failure(.refused(status: 400, title: "Not today", code: .other))
            case .isLostBefore: return .failure(.timedOut(sent: true))
            case .isLostAfter:
                state.take(order, .completed, at: now)
                return .failure(.connectionLost(sent: true))
            case .isTakenTwice:
                state.take(order, .completed, at: now)
                return .failure(.refused(status: 409, title: "Already processed", code: .conflict))
            case .comesLate:
                state.late.append((order, now))
                return .failure(.timedOut(sent: true))
            case .completes: return .success(state.take(order, .completed, at: now))
            case .pends: return .success(state.take(order, .pending, at: now))
            }
        }
        return try answer.get()
    }

    func transfer(reference: String, deadline: Duration?) async throws(AnchorError) -> TransferSnapshot? {
        let (isDeaf, found) = self.state.withLock { ($0.isDeaf, $0.transfers[reference]) }
        guard !isDeaf else { throw .timedOut(sent: true) }
        return found
    }

    func read(_ account: String, since: Date, billsSince: Date) async throws -> TheirBooks {
        self.state.withLock { state in
            let all = state.order.compactMap { state.transfers[$0] }
                .filter { $0.createdAt.map { $0 >= since } ?? true }
            return TheirBooks(
                transfers: all.filter { $0.sourceAccountID == account }.map { .init($0, isOutgoing: true) }
                    + all.filter { $0.destinationAccountID == account }.map { .init($0, isOutgoing: false) },
                payments: state.payments.filter { $0.account == account }
                    .map { .init(id: $0.id, amount: $0.amount, paidAt: $0.at, reference: $0.reference) },
                ledger: state.balances[account] ?? 0,
                pending: 0,
                bills: state.bills(of: account, since: billsSince)
            )
        }
    }

    func bills(of account: String, since: Date) async throws -> [TheirBooks.Bill] {
        self.state.withLock { $0.bills(of: account, since: since) }
    }
}

extension RudeProvider.State {
    /// By what is said of it and not by its reference, nor by which of two at once came first: both are chance, but not
    /// the seed's.
    func rank(of reference: String) -> String {
        guard let transfer = self.transfers[reference] else { return "" }
        let ends = [transfer.sourceAccountID, transfer.destinationAccountID ?? transfer.counterpartyID].map { $0 ?? "" }
        let made = transfer.createdAt ?? .distantPast
        return "\(Timestamp.text(made)) \(ends[0]) \(ends[1]) \(transfer.amount.kobo)"
    }

    func rank(of message: RudeProvider.Message) -> String {
        switch message {
        case .ended(let reference, _, let status): "\(self.rank(of: reference)) \(status)"
        case .paid(let id, let account, let amount, let reference):
            "\(self.payments.first { $0.id == id }.map { Timestamp.text($0.at) } ?? "") \(account) \(amount) "
                + (reference.map { self.rank(of: $0) } ?? "")
        }
    }

    /// What is taken and not decided is spent already.
    func onHold(_ account: String) -> Int64 {
        self.transfers.values.filter { $0.sourceAccountID == account && $0.status == .pending }
            .reduce(0) { $0 + $1.amount.kobo }
    }

    @discardableResult
    mutating func take(_ order: TransferOrder, _ status: TransferStatus, at now: Date) -> TransferSnapshot {
        self.number += 1
        var account: String?
        var bank: String?
        switch order.destination {
        case .account(let id): account = id
        case .counterparty(let id): bank = id
        }
        let transfer = TransferSnapshot(
            id: "\(self.number)-anc_trsf",
            reference: order.reference,
            rail: order.rail,
            amount: order.amount,
            status: .pending,
            createdAt: now,
            sourceAccountID: order.sourceAccountID,
            destinationAccountID: account,
            counterpartyID: bank
        )
        self.transfers[order.reference] = transfer
        self.order.append(order.reference)
        if status != .pending { self.end(order.reference, status) }
        return self.transfers[order.reference] ?? transfer
    }

    mutating func end(_ reference: String, _ status: TransferStatus) {
        guard let transfer = self.transfers[reference] else { return }
        self.transfers[reference]?.status = status
        if status == .completed {
            self.move(transfer, by: 1)
            if transfer.rail == .nip { self.bill(transfer) }
        }
        self.messages.append(.ended(reference: reference, id: transfer.id, status))
    }

    func bills(of account: String, since: Date) -> [TheirBooks.Bill] {
        self.bills.filter { $0.account == account && ($0.bill.billedAt ?? since) >= since }.map(\.bill)
    }

    /// Rows of their own, which it does not give back when the transfer comes back.
    mutating func bill(_ transfer: TransferSnapshot) {
        guard let source = transfer.sourceAccountID else { return }
        for (kind, amount) in [("TRANSFER_FEE", 11 as Int64), ("STAMP_DUTY", 7)]
        where kind == "TRANSFER_FEE" || transfer.amount.kobo > 5000 {
            self.number += 1
            self.balances[source, default: 0] -= amount
            let bill = TheirBooks.Bill(
                id: "\(self.number)-anc_txn",
                kind: kind,
                amount: amount,
                reference: transfer.reference,
                billedAt: transfer.createdAt
            )
            self.bills.append((source, bill))
        }
    }

    mutating func move(_ transfer: TransferSnapshot, by sign: Int64) {
        let amount = sign * transfer.amount.kobo
        if let source = transfer.sourceAccountID { self.balances[source, default: 0] -= amount }
        if let destination = transfer.destinationAccountID { self.balances[destination, default: 0] += amount }
    }

    mutating func take(_ account: String, _ amount: Int64, _ reference: String?, at now: Date) {
        self.number += 1
        let id = "\(self.number)-anc_inb_trsf"
        self.balances[account, default: 0] += amount
        self.payments.append((id, account, amount, reference, now))
        self.messages.append(.paid(id: id, account: account, amount: amount, reference: reference))
    }
}
