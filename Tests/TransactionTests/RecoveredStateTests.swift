import AnchorClient
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("States that a restored ledger has forgotten")
struct RecoveredStateTests {
    /// Ada pays Bayo, as both books say.
    private func pays(_ amount: Int64, _ restored: Restored) async throws -> UUID {
        let id = try await restored.world.pays("bayo", amount)
        let outcomes = try await restored.submits([id])
        #expect(outcomes == [.done])
        let (reference, now) = (TransferReference.text(of: id), restored.world.clock.now)
        restored.provider.moves(reference, amount, from: "ada-account", to: "bayo-account", at: now)
        return id
    }

    /// The recovery takes the payment back and ends.
    private func expectsReversal(of id: UUID, _ restored: Restored) async throws {
        try await restored.begins()
        try await restored.world.passes(.seconds(121))
        for account in Restored.accounts {
            let outcome = try await restored.looks(at: account)
            #expect(outcome == .done, "\(account)")
        }
        let state = try await restored.state(of: id)
        let wallets = (try await restored.wallet(restored.world.ada), try await restored.wallet(restored.world.bayo))
        let ending = try await restored.ends()
        #expect(state == "reversed")
        #expect(wallets.0 == 1000 && wallets.1 == 0)
        #expect(ending == .ended)
    }

    @Test("a reversal after the backup of what was made before it is booked")
    func reversed() async throws {
        try await withRestored { restored in
            let paid = try await self.pays(300, restored)
            try await restored.world.passes(.seconds(2400))
            restored.provider.takesBack(TransferReference.text(of: paid))
            try await self.expectsReversal(of: paid, restored)
        }
    }

    @Test("a reversal of what is older than the listed days is asked for by reference, while the balance differs")
    func older() async throws {
        try await withRestored { restored in
            let paid = try await self.pays(300, restored)
            try await restored.world.passes(Recovery.lookBack + .seconds(3600))
            restored.provider.takesBack(TransferReference.text(of: paid))
            try await self.expectsReversal(of: paid, restored)
        }
    }

    @Test("of what is older a slow provider is asked a part with each look, and the rest with the next")
    func slow() async throws {
        try await withRestored { restored in
            let (earlier, later) = (try await self.pays(200, restored), try await self.pays(100, restored))
            try await restored.world.passes(Recovery.lookBack + .seconds(3600))
            for id in [earlier, later] { restored.provider.takesBack(TransferReference.text(of: id)) }
            try await restored.begins()
            try await restored.world.passes(.seconds(121))
            var states: [[String?]] = []
            for _ in 0..<2 {
                let clock = JumpingClock(at: restored.world.clock.now, step: 150)
                try await restored.looks(at: "ada-account", by: clock)
                states.append([try await restored.state(of: earlier), try await restored.state(of: later)])
            }
            #expect(states == [["completed", "reversed"], ["reversed", "reversed"]])
        }
    }

    @Test("a transfer that should be listed and is not is asked for by reference")
    func unlisted() async throws {
        try await withRestored { restored in
            let paid = try await self.pays(300, restored)
            restored.provider.leavesOut(TransferReference.text(of: paid))
            restored.provider.takesBack(TransferReference.text(of: paid))
            try await self.expectsReversal(of: paid, restored)
        }
    }

    @Test("a difference that is older than the backup keeps a recovery open too, until an operator accepts it")
    func before() async throws {
        try await withRestored { restored in
            let earlier = restored.world.clock.now.addingTimeInterval(-7200)
            restored.provider.moves("by-hand", 50, from: "ada-account", bank: "a-bank", at: earlier)
            try await restored.begins()
            try await restored.world.passes(.seconds(121))
            let outcome = try await restored.looks(at: "ada-account")
            #expect(outcome == .again(reason: "does_not_agree", after: RecoverAccount.lookAgain))
            for account in Restored.accounts.dropFirst() { try await restored.looks(at: account) }
            let early = try await restored.ends()
            #expect(early == .incomplete)
            let accepted = try await restored.accepts("ada-account")
            #expect(accepted == .accepted)
            let ending = try await restored.ends()
            #expect(ending == .ended)
        }
    }

    @Test("the provider is asked for a day about money that came back, however often it was asked before")
    func patience() async throws {
        try await withRestored { restored in
            let world = restored.world
            let paid = try await self.pays(300, restored)
            let credit = WalletCredit(
                providerPaymentID: "9-anc_py",
                account: "ada-account",
                amount: 300,
                reference: TransferReference.text(of: paid)
            )
            let results = try await world.work.transaction(cause: Cause()) { transaction in
                try await SubmissionStore().credit([credit], in: transaction).map { $0.result }
            }
            #expect(results == ["matched"])
            let first = try await self.checks(paid, restored)
            #expect(first == .again(reason: "no_news", after: nil))
            try await world.passes(.seconds(86_401))
            let last = try await self.checks(paid, restored)
            #expect(last == .failed(reason: "money_came_back_unexplained"))
        }
    }

    @Test("when no money came back, and the provider lists a transfer otherwise than it answers, that is the reason")
    func disagreement() async throws {
        try await withRestored { restored in
            let paid = try await self.pays(300, restored)
            let outcome = try await self.checks(paid, restored)
            #expect(outcome == .failed(reason: "provider_disagrees_with_its_list"))
        }
    }

    /// Asks about a transfer that was asked about often.
    private func checks(_ id: UUID, _ restored: Restored) async throws -> JobOutcome {
        let world = restored.world
        let check = CheckTransfer(database: world.work, store: SubmissionStore(), provider: restored.provider)
        return try await check(restored.job(id.lowercased, attempt: 40))
    }
}
