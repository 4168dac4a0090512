import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport

@testable import AccountService

/// Account on a database of its own, with the provider in memory and without HTTP and broker.
struct AccountWorld: ServiceWorld {
    let service: ServiceDatabase
    let keys = InMemoryDataKeys()
    let provider = FakeProvider()
    let accounts = AccountStore()

    let adaKey = DataKey()

    var openAccount: OpenAccount {
        OpenAccount(
            database: self.work,
            accounts: self.accounts,
            provider: self.provider,
            calls: ProviderCalls(database: self.work)
        )
    }

    var fetchAccount: FetchAccount {
        FetchAccount(database: self.work, accounts: self.accounts, keys: self.keys, provider: self.provider)
    }

    var readPayment: ReadPayment {
        ReadPayment(
            database: self.work,
            accounts: self.accounts,
            payments: InboundPaymentStore(),
            provider: self.provider
        )
    }

    /// Reads so many pages of a list at most.
    private func sweeper(pages: Int) -> SweepPayments {
        SweepPayments(
            database: self.work,
            accounts: self.accounts,
            payments: InboundPaymentStore(),
            provider: self.provider,
            clock: self.clock,
            maximumPages: pages
        )
    }

    var handlers: EventHandlers { AccountHandlers.make(accounts: self.accounts) }

    // MARK: Events

    func adaIsCustomer(_ type: AccountType = .personal) async throws {
        let created = CustomerCreated(
            userID: self.ada.uuid,
            anchorCustomerID: "1-anc_ind_cst",
            accountType: Open(type)
        )
        try await self.hear(created, sequence: 1)
    }

    func adaIsVerified() async throws {
        try await self.hear(CustomerVerified(userID: self.ada.uuid, anchorCustomerID: "1-anc_ind_cst"), sequence: 1)
    }

    /// Ada has an open wallet at the provider's account `1-anc_acc`.
    func adaHasWallet() async throws {
        try await self.adaIsCustomer()
        try await self.adaIsVerified()
        _ = try await self.open()
        self.provider.assignNumber("9000000001", name: "ADA OKONKWO")
        _ = try await self.fetch()
    }

    /// The provider says that money arrived.
    func hearPayment(_ id: String, settled: Bool = true) async throws {
        let event = ProviderPaymentReceived(
            providerPaymentID: id,
            anchorAccountID: "forged-anc_acc",
            settled: settled,
            providerEventID: "\(self.ids.next())-anc_et"
        )
        try await self.hear(event, sequence: 1)
    }

    // MARK: Jobs

    func open() async throws -> JobOutcome {
        try await self.run(AccountJob.openAccount, self.ada.description) { try await self.openAccount($0) }
    }

    func fetch() async throws -> JobOutcome {
        try await self.run(AccountJob.fetchAccount, self.ada.description) { try await self.fetchAccount($0) }
    }

    func read(_ id: String) async throws -> JobOutcome {
        try await self.run(AccountJob.readPayment, id) { try await self.readPayment($0) }
    }

    func sweep(_ account: String = "1-anc_acc", pages: Int = 1000) async throws -> JobOutcome {
        let sweepPayments = self.sweeper(pages: pages)
        return try await self.run(AccountJob.sweepPayments, account) { try await sweepPayments($0) }
    }

    /// What the schedule does.
    func planSweeps() async throws {
        try await self.work.transaction(cause: Cause()) { transaction in
            for account in try await self.accounts.takeForSweep(10, age: SweepSchedule.age, in: transaction) {
                try await transaction.requeue(AccountJob.sweepPayments, key: account, subject: account)
            }
        }
    }

    /// Lets time pass, for account and its database.
    func pass(_ seconds: Int) async throws {
        self.clock.offset += .seconds(seconds)
        try await self.database.psql("UPDATE clock_offset SET moved = moved + interval '\(seconds) seconds'")
    }

    /// The keys of the jobs of a kind that wait.
    func waiting(_ kind: JobKind) async throws -> [String] {
        try await self.database.psql(
            "SELECT key FROM jobs WHERE kind = '\(kind.rawValue)' AND state = 'queued' ORDER BY key"
        )
    }
}

/// Runs `body` with account on a fresh database.
func withAccount(_ body: (AccountWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .account,
        schema: try AccountSchema.sets(),
        handlers: AccountHandlers.make(accounts: AccountStore())
    ) { service in
        let world = AccountWorld(service: service)
        world.keys.set(world.adaKey, for: world.ada)
        try await body(world)
    }
}
