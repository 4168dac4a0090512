import AnchorClient
import Contracts
import Foundation
import Logging
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

extension TransactionWorld {
    private var desk: SuspenseStore { SuspenseStore(client: self.work.client) }

    /// A payment of Ada's reaches Bayo's wallet, which has been closed or frozen meanwhile.
    fileprivate func suspends(_ amount: Int64, _ status: String) async throws -> UUID {
        try await self.funds("ada-account", amount, "p-\(amount)")
        let payment = try await self.pays("bayo", amount)
        try await self.beats()
        try await self.work.transaction(cause: Cause()) { transaction in
            _ = try await SubmissionStore().begin([payment], in: transaction)
        }
        try await self.database.psql("UPDATE users SET status = '\(status)' WHERE id = '\(self.bayo)'")
        try await self.ends(payment)
        return payment
    }

    /// Grace proposes; the id of the release and what came of it.
    fileprivate func proposes(
        _ money: UUID,
        _ disposition: SuspenseStore.Disposition,
        to beneficiary: UUID? = nil
    ) async throws -> (id: UUID, word: String) {
        let id = self.ids.next()
        let order = OperatorOrder(name: "grace", reason: "checked")
        let word = try await self.work.transaction(cause: Cause()) { transaction in
            try await self.desk.propose(id, of: money, disposition, to: beneficiary, by: order, in: transaction)
        }
        return (id, word)
    }

    fileprivate func approves(_ release: UUID) async throws -> String {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await self.desk.decide(release, approve: true, by: "linus", in: transaction)
        }
    }

    /// Runs the job of an order.
    fileprivate func submits(_ order: UUID, to provider: AskedProvider) async throws {
        let submit = SubmitTransfers(
            database: self.work,
            store: SubmissionStore(),
            provider: provider,
            clock: self.clock,
            logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
            repeats: AnchorRepeats(time: self.clock)
        )
        try await self.beats()
        let job = Job(
            id: self.ids.next(),
            key: order.lowercased,
            subject: nil,
            payload: "{}",
            attempt: 1,
            cause: Cause(),
            leaseUntil: self.clock.now.addingTimeInterval(600),
            owner: self.ids.next()
        )
        _ = try await submit([job])
    }

    /// What waits in suspense, with the state of what is proposed for it.
    fileprivate func waiting() async throws -> [String] {
        try await self.desk.waiting(limit: 10).map { "\($0.type) \($0.amount) \($0.release?.state ?? "free")" }
    }
}

@Suite("Orders out of suspense")
struct SuspenseOrderTests {
    @Test(
        "a payment that two people return is on its way until the provider has made it; both sides see it as returned"
    )
    func giveBack() async throws {
        try await withTransaction { world in
            let payment = try await world.suspends(1000, "frozen")
            #expect(try await world.waiting() == ["p2p 1000 free"])
            let back = try await world.proposes(payment, .giveBack)
            #expect(back.word == "proposed")
            #expect(try await world.approves(back.id) == "approved")
            #expect(try await world.waiting() == ["p2p 1000 approved"])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 0)
            #expect(try await world.history.transfer(payment, for: world.ada)?.state == "completed")
            try await world.ends(back.id)
            #expect(try await world.waiting() == [])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            for user in [world.ada, world.bayo] {
                let rows = try await world.history.page(of: user, HistoryFilter(), limit: 10).rows
                #expect(rows.filter { $0.type == "p2p" }.map(\.state) == ["returned"])
                #expect(rows.allSatisfy { $0.id != back.id })
            }
            #expect(try await world.said(TransactionReversed.self).map(\.transactionID) == [payment])
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test(
        "a return is not sent when the provider has taken the payment back and nobody has heard it; nor when it does not say"
    )
    func takenBack() async throws {
        try await withTransaction { world in
            let payment = try await world.suspends(1000, "frozen")
            let back = try await world.proposes(payment, .giveBack)
            #expect(try await world.approves(back.id) == "approved")
            let provider = AskedProvider()
            let held = TransferReference.text(of: payment)
            for status in [TransferStatus?.none, .pending] {
                provider.has(held, status)
                try await world.submits(back.id, to: provider)
                #expect(provider.orders == [])
            }
            provider.isSilent(.timedOut(sent: true))
            try await world.submits(back.id, to: provider)
            provider.isSilent(nil)
            #expect(provider.orders == [])
            #expect(try await world.waiting() == ["p2p 1000 approved"])
            provider.has(held, .reversed)
            try await world.submits(back.id, to: provider)
            try await world.submits(back.id, to: provider)
            #expect(provider.orders == [])
            #expect(try await world.waiting() == [])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a return whose payment stands is sent at once")
    func stands() async throws {
        try await withTransaction { world in
            let payment = try await world.suspends(1000, "frozen")
            let back = try await world.proposes(payment, .giveBack)
            #expect(try await world.approves(back.id) == "approved")
            let provider = AskedProvider()
            provider.has(TransferReference.text(of: payment), .completed)
            try await world.submits(back.id, to: provider)
            #expect(provider.orders == [TransferReference.text(of: back.id)])
        }
    }

    @Test("what a closed profile has is paid to a bank account of its owner, and is recorded with that account")
    func payOut() async throws {
        try await withTransaction { world in
            let payment = try await world.suspends(1000, "closed")
            let account = world.ids.next()
            #expect(try await world.proposes(payment, .payOut, to: account).word == "beneficiary_unknown")
            try await world.database.psql(
                """
                INSERT INTO beneficiaries (id, user_id, counterparty_id, verified)
                VALUES ('\(account.lowercased)', '\(world.bayo)', 'bayo-bank', true)
                """
            )
            let payout = try await world.proposes(payment, .payOut, to: account)
            #expect(payout.word == "proposed")
            let acts = try await world.acts("suspense.proposed")
            #expect(acts.count == 1 && acts[0].contains(#""beneficiary_id":"\#(account.lowercased)""#))
            #expect(try await world.approves(payout.id) == "approved")
            try await world.ends(payout.id, .failed)
            #expect(try await world.waiting() == ["p2p 1000 free"])
            let again = try await world.proposes(payment, .payOut, to: account)
            #expect(try await world.approves(again.id) == "approved")
            try await world.ends(again.id)
            #expect(try await world.waiting() == [])
            #expect(try await world.brokenInvariants() == [])
        }
    }
}
