import Contracts
import EventLoops
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import TransactionService

/// The ledger of the walk, and what its provider has done: kobo per account, by what was ordered there.
struct PathLedger: ServiceWorld {
    private struct Provider {
        var balances: [String: Int64] = [:]
        var ordered: [UUID: SubmissionStep] = [:]
    }

    let service: ServiceDatabase
    private let provider = Locked<Provider>(Provider())

    static let pool = "pool"

    init(service: ServiceDatabase) { self.service = service }

    var handlers: EventHandlers { Self.handlers }
    static var handlers: EventHandlers { TransactionHandlers.make(ReadModelStore()) }

    // MARK: People

    /// Somebody with a wallet at the provider's account `<name>-account`.
    func joins(_ user: UserID, _ name: String) async throws {
        try await self.hear(
            UserCreated(userID: user.uuid, username: name, accountType: Open(.personal)),
            about: user.uuid
        )
        try await self.hear(CustomerVerified(userID: user.uuid, anchorCustomerID: "\(name)-cst"), about: user.uuid)
        let opened = AccountOpened(
            userID: user.uuid,
            accountID: self.ids.next(),
            anchorAccountID: "\(name)-account",
            bankName: "Bank",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
        try await self.hear(opened, about: user.uuid)
    }

    /// A verified bank account, to which payments go.
    func banks(_ user: UserID, _ name: String) async throws -> UUID {
        let bank = self.ids.next()
        let added = BeneficiaryAdded(
            userID: user.uuid,
            beneficiaryID: bank,
            anchorCounterpartyID: "\(name)-bank",
            isDefault: true,
            bankName: "Bank",
            bankCode: "000014",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
        try await self.hear(added, about: user.uuid, sequence: 2)
        return bank
    }

    /// A column of somebody's that events would set.
    func sets(_ user: UserID, _ change: SQL) async throws {
        try await self.changes("UPDATE users SET \(change) WHERE id = \(user.uuid)")
    }

    func changes(_ statement: SQL) async throws {
        try await self.work.transaction(cause: Cause()) { try await $0.stage(statement) }
    }

    func hearsAll() async throws {
        try await self.changes(
            "SELECT beat(s, transfa_now()) FROM unnest(ARRAY['auth', 'customer', 'subscription']) s"
        )
    }

    /// A profile is closed, and what it had open ends.
    func closes(_ user: UserID) async throws {
        let closed = UserRestricted(userID: user.uuid, restriction: Open(.closed), reason: "walked")
        try await self.hear(closed, about: user.uuid, sequence: 9)
        _ = try await self.work.transaction(cause: Cause()) { transaction in
            try await ClosureStore().close(user.uuid, in: transaction)
        }
    }

    /// The provider takes something for a transfer.
    func bills(_ account: String, _ amount: Int64, for transfer: UUID) async throws {
        self.leaves(account, amount)
        let store = BillStore(
            client: self.work.client,
            billing: ProviderBilling(payer: .customers, account: nil)
        )
        let bill = TheirBooks.Bill(
            id: "\(self.ids.next().lowercased)-anc_txn",
            kind: "TRANSFER_FEE",
            amount: amount,
            reference: TransferReference.text(of: transfer),
            billedAt: self.clock.now
        )
        try await store.book([bill], of: account, in: self.work, cause: Cause())
    }

    // MARK: Orders

    /// An order that is accepted.
    func orders(_ order: Order, of sender: UserID, approvedBy device: UUID? = nil) async throws -> UUID {
        let pending = PendingOrder(
            transaction: self.ids.next(),
            sender: sender,
            order: order,
            sealedText: nil,
            route: "POST /transactions/\(order.type.rawValue)",
            key: self.ids.next().lowercased,
            requestHash: Array(repeating: 1, count: 32),
            nonce: self.ids.next(),
            device: device,
            createdEvent: self.ids.next(),
            reroutedEvent: self.ids.next(),
            slotEvent: self.ids.next(),
            correlation: nil,
            traceparent: nil
        )
        let store = OrderStore(client: self.requests.client)
        let answer = try await store.answer(to: pending, try await store.place([pending])[0])
        guard case .accepted(let receipt) = answer.outcome else { throw TestFailure("\(answer.outcome)") }
        return receipt.transaction
    }

    /// An order reaches the provider.
    func sends(_ transfer: UUID) async throws {
        try await self.hearsAll()
        let store = SubmissionStore()
        var steps = try await self.work.transaction(cause: Cause()) { transaction in
            try await store.begin([transfer], in: transaction)
        }
        // It moves money out of suspense, and the provider says that the payment stands.
        if let payment = steps.first?.payment {
            steps = try await self.work.transaction(cause: Cause()) { transaction in
                try await store.keep([(payment, "completed")], in: transaction)
                return try await store.begin([transfer], in: transaction)
            }
        }
        guard let step = steps.first, step.verdict == .send else { throw TestFailure("not sent: \(steps)") }
        self.provider.withLock { $0.ordered[transfer] = step }
    }

    /// What became of an order, at the provider and then with us.
    func ends(
        _ transfer: UUID,
        _ outcome: TransferVerdict.Outcome,
        hasMoved: Bool = false,
        as word: String? = nil
    ) async throws {
        guard let step = self.provider.withLock({ $0.ordered[transfer] }), let amount = step.amount,
            let source = step.sourceAccount
        else { throw TestFailure("never sent") }
        let inside = step.kind == "BookTransfer" ? step.destination : nil
        if outcome == .completed || outcome == .reversed && hasMoved {
            let sign: Int64 = outcome == .completed ? 1 : -1
            self.comes(to: source, -sign * amount)
            if let inside { self.comes(to: inside, sign * amount) }
        }
        let verdict = TransferVerdict(
            outcome: outcome,
            reason: outcome == .failed ? "provider_failed" : nil,
            evidence: "walked",
            providerID: "p-\(transfer)"
        )
        let results = try await self.work.transaction(cause: Cause()) { transaction in
            try await SubmissionStore().settle([(transfer, verdict)], in: transaction)
        }
        guard results == [word ?? outcome.rawValue] else { throw TestFailure("not \(outcome): \(results)") }
    }

    /// An order is sent and arrives.
    func completes(_ transfer: UUID) async throws {
        try await self.sends(transfer)
        try await self.ends(transfer, .completed)
    }

    /// Money comes from outside.
    func funds(_ account: String, _ amount: Int64) async throws -> UUID {
        self.comes(to: account, amount)
        let credit = WalletCredit(
            providerPaymentID: "\(self.ids.next().lowercased)-anc_inb_trsf",
            account: account,
            amount: amount
        )
        let results = try await self.work.transaction(cause: Cause()) { transaction in
            try await SubmissionStore().credit([credit], in: transaction)
        }
        guard let id = results.first?.transaction else { throw TestFailure("not credited") }
        return id
    }

    /// Money leaves an account there that no order of ours moved.
    func leaves(_ account: String, _ amount: Int64) { self.comes(to: account, -amount) }

    private func comes(to account: String, _ amount: Int64) {
        self.provider.withLock { $0.balances[account, default: 0] += amount }
    }

    /// Kobo that the provider has on an account.
    func balance(_ account: String) -> Int64 { self.provider.withLock { $0.balances[account] ?? 0 } }

    // MARK: Looks

    func number(_ statement: SQL) async throws -> Int64 {
        try await self.work.client.query(statement).first?.decode(Int64?.self) ?? 0
    }

    func words(_ statement: SQL) async throws -> [String] {
        try await self.work.client.query(statement).map { try $0.decode(String?.self) ?? "" }
    }

    /// Two operators let money out of suspense; the id of what that is.
    @discardableResult
    func releases(
        _ money: UUID,
        _ disposition: SuspenseStore.Disposition,
        to bank: UUID? = nil
    ) async throws -> UUID {
        let store = SuspenseStore(client: self.work.client)
        let id = self.ids.next()
        let proposed = try await self.work.transaction(cause: Cause()) { transaction in
            try await store.propose(id, of: money, disposition, to: bank, by: .grace, in: transaction)
        }
        guard proposed == "proposed" else { throw TestFailure(proposed) }
        let decided = try await self.work.transaction(cause: Cause()) { transaction in
            try await store.decide(id, approve: true, by: "linus", in: transaction)
        }
        guard decided == "approved" else { throw TestFailure(decided) }
        return id
    }
}
