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

/// A restored ledger beside a provider that has gone on.
struct Restored {
    let world: TransactionWorld
    let provider = RestoredProvider()

    static let accounts = ["ada-account", "bayo-account", "pool"]

    var store: RecoveryStore { RecoveryStore(client: self.world.work.client, poolAccount: "pool") }

    var open: Recovery {
        get async throws { try #require(try await self.store.open()) }
    }

    /// As the restore does.
    func begins() async throws {
        try await self.world.database.psql(
            "SELECT begin_recovery(transfa_now() - interval '10 minutes', 'restore', 'the disk is gone')"
        )
        try await self.world.runs { try await self.store.continue(in: $0) }
    }

    /// Looks at an account.
    @discardableResult
    func looks(at account: String, by clock: (any TimeSource)? = nil) async throws -> JobOutcome {
        let recover = RecoverAccount(
            database: self.world.work,
            recoveries: self.store,
            books: ReconciliationStore(client: self.world.work.client, poolAccount: "pool"),
            bills: BillStore(client: self.world.work.client, billing: .nobody),
            transfers: SubmissionStore(),
            provider: self.provider,
            questions: self.provider,
            clock: clock ?? self.world.clock
        )
        return try await recover(self.job(account))
    }

    var submit: SubmitTransfers {
        SubmitTransfers(
            database: self.world.work,
            store: SubmissionStore(),
            provider: self.provider,
            clock: self.world.clock,
            logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
            repeats: AnchorRepeats(time: self.world.clock)
        )
    }

    /// Runs the jobs of transfers.
    @discardableResult
    func submits(_ ids: [UUID]) async throws -> [JobOutcome] {
        try await self.world.beats()
        let submit = self.submit
        return try await submit(ids.map { self.job($0.lowercased) })
    }

    /// The provider's message that a transfer is completed.
    func hears(of reference: String) async throws -> [JobOutcome] {
        let fact = ProviderTransferUpdated(
            anchorTransferID: "\(reference)-anc_trsf",
            reference: reference,
            status: .known(.successful),
            providerEventID: "1-anc_evt"
        )
        let payload = String(decoding: try JSONEncoder().encode(fact), as: UTF8.self)
        let apply = ApplyTransferFacts(
            database: self.world.work,
            store: SubmissionStore(),
            provider: self.provider,
            repeats: AnchorRepeats(time: self.world.clock),
            clock: self.world.clock
        )
        return try await apply([self.job(reference, payload)])
    }

    private var newest: UUID {
        get async throws {
            let ids = try await self.world.database.psql("SELECT id FROM recoveries ORDER BY begun_at DESC LIMIT 1")
            return try #require(ids.first.flatMap { UUID(uuidString: $0) })
        }
    }

    func ends() async throws -> RecoveryStore.Ending {
        let id = try await self.newest
        return try await self.world.work.transaction(cause: Cause()) { transaction in
            try await self.store.end(id, by: .grace, in: transaction)
        }
    }

    /// By what mark the newest recovery names what differs on an account.
    func mark(of account: String) async throws -> String {
        let marks = try await self.world.database.psql(
            """
            SELECT difference_mark(differences, detail) FROM recovery_accounts WHERE account = '\(account)'
                AND recovery_id = '\(try await self.newest)'
            """
        )
        return marks.first { !$0.isEmpty } ?? "00000000"
    }

    /// An operator accepts what differs on an account of the newest recovery, or what was seen of it.
    func accepts(_ account: String, as seen: String? = nil) async throws -> RecoveryStore.Acceptance {
        let id = try await self.newest
        let mark = if let seen { seen } else { try await self.mark(of: account) }
        return try await self.world.work.transaction(cause: Cause()) { transaction in
            try await self.store.accept(account, mark, of: id, by: .grace, in: transaction)
        }
    }

    func state(of id: UUID) async throws -> String? {
        try await self.world.database.psql("SELECT state FROM transfers WHERE id = '\(id.lowercased)'").first
    }

    func wallet(_ user: UserID) async throws -> Int64? { try await self.world.history.wallet(of: user)?.posted }

    func job(_ key: String, _ payload: String = "{}", attempt: Int = 1) -> Job {
        Job(
            id: self.world.ids.next(),
            key: key,
            subject: nil,
            payload: payload,
            attempt: attempt,
            cause: Cause(),
            leaseUntil: self.world.clock.now.addingTimeInterval(600),
            owner: self.world.ids.next()
        )
    }
}

/// Runs `body` on a ledger in which Ada has 1000, as the provider knows.
func withRestored(_ body: (Restored) async throws -> Void) async throws {
    try await withTransaction { world in
        let restored = Restored(world: world)
        try await world.funds("ada-account", 1000, "1-anc_inb_trsf")
        let yesterday = world.clock.now.addingTimeInterval(-86_400)
        restored.provider.receives("ada-account", 1000, "1-anc_inb_trsf", at: yesterday)
        try await body(restored)
        #expect(try await world.brokenInvariants() == [])
    }
}
