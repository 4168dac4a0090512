import Foundation
import Logging
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("What the provider bills")
struct BillTests {
    private static let customers = ProviderBilling(payer: .customers, account: nil)
    private static let organisation = ProviderBilling(payer: .organisation, account: "our-account")

    private func store(_ world: TransactionWorld, _ billing: ProviderBilling) -> BillStore {
        BillStore(client: world.work.client, billing: billing)
    }

    /// Runs the job of an account.
    private func books(
        _ account: String,
        _ restored: Restored,
        _ billing: ProviderBilling = Self.customers
    ) async throws -> JobOutcome {
        let book = BookBills(
            database: restored.world.work,
            store: self.store(restored.world, billing),
            provider: restored.provider,
            clock: restored.world.clock
        )
        return try await book(restored.job(account))
    }

    /// Compares an account, as every day.
    private func reconciles(_ account: String, _ restored: Restored) async throws -> JobOutcome {
        let reconcile = ReconcileAccount(
            database: restored.world.work,
            store: ReconciliationStore(client: restored.world.work.client, poolAccount: "pool"),
            bills: self.store(restored.world, Self.customers),
            provider: restored.provider,
            clock: restored.world.clock
        )
        return try await reconcile(restored.job(account))
    }

    private func booked(_ world: TransactionWorld) async throws -> Int? {
        try await world.number("SELECT count(*) FROM provider_bills")
    }

    @Test("a look books what was billed before it compares, once, and finds no difference; the wallet keeps its money")
    func reconciliation() async throws {
        try await withRestored { restored in
            let world = restored.world
            restored.provider.bills("ada-account", "TRANSFER_FEE", 20, at: world.clock.now)
            restored.provider.bills("ada-account", "STAMP_DUTY", 50, at: world.clock.now)
            for _ in 0..<2 {
                let outcome = try await self.reconciles("ada-account", restored)
                #expect(outcome == .done)
            }
            let count = try await self.booked(world)
            #expect(count == 2)
            let wallet = try await restored.wallet(world.ada)
            #expect(wallet == 1000)
            // A kobo that no bill explains is found as before.
            restored.provider.differs("ada-account", by: -1)
            restored.provider.bills("ada-account", "STAMP_DUTY", 50, at: world.clock.now)
            let suspicion = try await self.reconciles("ada-account", restored)
            #expect(suspicion == .again(reason: "to_be_confirmed", after: ReconcileAccount.confirmAfter))
        }
    }

    @Test("a bill that nobody read when it was made is found while the balance differs because of it")
    func late() async throws {
        try await withRestored { restored in
            let world = restored.world
            let moment = world.clock.now
            restored.provider.differs("ada-account", by: -20)
            let suspicion = try await self.reconciles("ada-account", restored)
            #expect(suspicion == .again(reason: "to_be_confirmed", after: ReconcileAccount.confirmAfter))
            try await world.passes(.seconds(20 * 86_400))
            restored.provider.differs("ada-account", by: 20)
            restored.provider.bills("ada-account", "TRANSFER_FEE", 20, at: moment)
            let outcome = try await self.reconciles("ada-account", restored)
            #expect(outcome == .done)
            let count = try await self.booked(world)
            #expect(count == 1)
        }
    }

    @Test("a recovery books the bills that a restored ledger has forgotten, once, and ends")
    func recovery() async throws {
        try await withRestored { restored in
            let world = restored.world
            let forgotten = TransferReference.text(of: world.ids.next())
            let now = world.clock.now
            restored.provider.moves(forgotten, 100, from: "ada-account", bank: "a-bank", at: now)
            restored.provider.bills("ada-account", "TRANSFER_FEE", 20, for: forgotten, at: now)
            restored.provider.bills("pool", "TRANSFER_FEE", 5, at: now)
            try await restored.begins()
            try await world.passes(.seconds(121))
            for _ in 0..<2 {
                for account in Restored.accounts {
                    let outcome = try await restored.looks(at: account)
                    #expect(outcome == .done, "\(account)")
                }
            }
            let ending = try await restored.ends()
            #expect(ending == .ended)
            let count = try await self.booked(world)
            #expect(count == 2)
            let wallet = try await restored.wallet(world.ada)
            #expect(wallet == 900)
        }
    }

    @Test("the job books the bills of a day, once, and nothing where nobody is billed")
    func job() async throws {
        try await withRestored { restored in
            let world = restored.world
            restored.provider.bills("ada-account", "TRANSFER_FEE", 20, at: world.clock.now)
            let free = try await self.books("ada-account", restored, .nobody)
            #expect(free == .cancelled(reason: "not_billed"))
            let none = try await self.booked(world)
            #expect(none == 0)
            for _ in 0..<2 {
                let outcome = try await self.books("ada-account", restored)
                #expect(outcome == .done)
            }
            let count = try await self.booked(world)
            #expect(count == 1)
            restored.provider.listsTooMuch(of: "ada-account")
            let tooMuch = try await self.books("ada-account", restored)
            #expect(tooMuch == .failed(reason: "too_many_rows"))
        }
    }

    @Test("the organisation's account is read from its newest bill on, however long ago that was")
    func organisation() async throws {
        try await withRestored { restored in
            let world = restored.world
            let account = "our-account"
            restored.provider.bills(account, "KYC_TIER_2", 70, at: world.clock.now)
            _ = try await self.books(account, restored, Self.organisation)
            try await world.passes(.seconds(20 * 86_400))
            let away = world.clock.now.addingTimeInterval(-10 * 86_400)
            restored.provider.bills(account, "KYC_TIER_2", 70, at: away)
            restored.provider.bills(account, "LEVY_OF_TOMORROW", 1, at: world.clock.now)
            _ = try await self.books(account, restored, Self.organisation)
            let costs = try await world.number(
                """
                SELECT sum(b.posted) FROM ledger_accounts a JOIN balances b ON b.account_id = a.id
                WHERE a.kind = 'provider_costs'
                """
            )
            #expect(costs == -141)
            let store = self.store(world, Self.organisation)
            let unforeseen = try await store.unforeseen()
            #expect(unforeseen == 1)
            try await world.runs { try await store.ask(in: $0) }
            let asked = try await world.database.psql("SELECT key FROM jobs WHERE kind = 'book_bills'")
            #expect(asked == [account])
        }
    }

    @Test("the setting says who is billed, and the organisation needs an account")
    func setting() throws {
        let settings = [
            "ANCHOR_BASE_URL": "https://anchor.example", "ANCHOR_API_KEY": "key", "ANCHOR_POOL_ACCOUNT_ID": "pool",
        ]
        let billing = { (more: [String: String]) in
            try TransactionConfiguration(SettingsReader(settings.merging(more) { $1 })).billing
        }
        let free = try billing([:])
        #expect(free == .nobody)
        let customers = try billing(["ANCHOR_BILLS": "customers"])
        #expect(customers == Self.customers)
        let own = ["ANCHOR_BILLS": "organisation", "ANCHOR_FEE_ACCOUNT_ID": "our-account"]
        let organisation = try billing(own)
        #expect(organisation == Self.organisation)
        for wrong in [["ANCHOR_BILLS": "organisation"], ["ANCHOR_BILLS": "everybody"]] {
            #expect(throws: ConfigurationProblem.self) { try billing(wrong) }
        }
    }

    @Test("the gauge shows bills that nobody foresaw")
    func metrics() async throws {
        try await withTransaction { world in
            let registry = PrometheusRegistry()
            let metrics = BillMetrics(
                store: self.store(world, Self.customers),
                registry: registry,
                logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            )
            metrics.show(3)
            #expect(registry.text().contains("transfa_provider_bills_unforeseen 3"))
        }
    }
}
