import AnchorClient
import EventLoops
import Foundation
import Logging
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

/// The provider's books as a test writes them.
private struct WrittenBooks: ProviderBooks {
    let page = Locked<TheirBooks>(TheirBooks(transfers: [], payments: [], ledger: 0, pending: 0))

    func read(_ account: String, since: Date, billsSince: Date) async throws -> TheirBooks { self.page.withLock { $0 } }

    func bills(of account: String, since: Date) async throws -> [TheirBooks.Bill] { self.page.withLock { $0.bills } }
}

@Suite("Reconciliation")
struct ReconciliationTests {
    private func store(_ world: TransactionWorld) -> ReconciliationStore {
        ReconciliationStore(client: world.work.client, poolAccount: "pool")
    }

    /// Looks at Ada's account and says what came of it.
    private func look(_ world: TransactionWorld, _ books: WrittenBooks) async throws -> JobOutcome {
        let reconcile = ReconcileAccount(
            database: world.work,
            store: self.store(world),
            bills: BillStore(client: world.work.client, billing: .nobody),
            provider: books,
            clock: world.clock
        )
        return try await reconcile(
            Job(
                id: world.ids.next(),
                key: "ada-account",
                subject: nil,
                payload: "{}",
                attempt: 1,
                cause: Cause(),
                leaseUntil: world.clock.now.addingTimeInterval(600),
                owner: world.ids.next()
            )
        )
    }

    private static let again = JobOutcome.again(reason: "to_be_confirmed", after: ReconcileAccount.confirmAfter)

    @Test("a difference is suspected, open when found again, older each time, and ends by itself; no balance moves")
    func life() async throws {
        try await withTransaction { world in
            let store = self.store(world)
            let books = WrittenBooks()
            try await world.funds("ada-account", 1000, "1-anc_inb_trsf")
            let first = TheirBooks.Payment(id: "1-anc_inb_trsf", amount: 1000, paidAt: world.clock.now)
            let lost = TheirBooks.Payment(id: "2-anc_inb_trsf", amount: 500, paidAt: world.clock.now)
            books.page.withLock { $0 = TheirBooks(transfers: [], payments: [first], ledger: 1000, pending: 0) }
            #expect(try await self.look(world, books) == .done)
            #expect(try await store.breaks(of: nil, limit: 10).isEmpty)

            books.page.withLock { $0 = TheirBooks(transfers: [], payments: [first, lost], ledger: 1500, pending: 0) }
            #expect(try await self.look(world, books) == Self.again)
            try await world.passes(.seconds(60))
            // Too soon: what moves while one looks may still be moving.
            #expect(try await self.look(world, books) == Self.again)
            #expect(try await store.breaks(of: "ada-account", limit: 10).map(\.state) == ["suspected"])
            #expect(try await store.openBreaks().isEmpty)
            try await world.passes(ReconcileAccount.confirmAfter)
            #expect(try await self.look(world, books) == .done)
            let open = try await store.breaks(of: "ada-account", limit: 10)
            #expect(open.map(\.kind) == ["missing_with_us"] && open.map(\.key) == ["2-anc_inb_trsf"])
            #expect(open.map(\.state) == ["open"] && open.map(\.theirs) == ["payment 500"])
            #expect(open.first?.userID == world.ada.uuid)
            let explained = try await store.explained(of: nil)
            #expect([explained.listed, explained.matched] == [1500, 1000])
            #expect(explained.oldestSeconds.map { $0 >= 900 } == true)
            try await world.passes(.seconds(3600))
            let ages = try await store.openBreaks()
            #expect(ages.map(\.count) == [1] && ages.allSatisfy { $0.oldestAge >= 3600 + 960 })
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)

            // Found after all, a day late.
            try await world.funds("ada-account", 500, "2-anc_py")
            #expect(try await self.look(world, books) == .done)
            #expect(try await store.breaks(of: nil, limit: 10).isEmpty)
            let kept = "SELECT count(*) FROM reconciliation_breaks WHERE opened_at < resolved_at"
            #expect(try await world.number(kept) == 1)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a transfer that the provider took back without a word is asked about, and reversed")
    func takenBack() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "1-anc_inb_trsf")
            let paid = try await world.pays("bayo", 300)
            try await world.beats()
            try await world.runs { _ = try await SubmissionStore().begin([paid], in: $0) }
            let verdict = TransferVerdict(outcome: .completed, evidence: "test", providerID: "1-anc_trsf")
            try await world.runs { _ = try await SubmissionStore().settle([(paid, verdict)], in: $0) }

            let reference = TransferReference.text(of: paid)
            let row = TheirBooks.Transfer(
                id: "1-anc_trsf",
                reference: reference,
                status: .reversed,
                amount: 300,
                isOutgoing: true,
                source: "ada-account",
                createdAt: world.clock.now
            )
            let payment = TheirBooks.Payment(id: "1-anc_inb_trsf", amount: 1000, paidAt: world.clock.now)
            let books = WrittenBooks()
            books.page.withLock { $0 = TheirBooks(transfers: [row], payments: [payment], ledger: 1000, pending: 0) }
            #expect(try await self.look(world, books) == Self.again)

            let provider = AskedProvider()
            provider.has(reference, .reversed)
            let check = CheckTransfer(database: world.work, store: SubmissionStore(), provider: provider)
            let outcome = try await world.run(TransactionJob.check, paid.lowercased) { try await check($0) }
            #expect(outcome == .done)
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            #expect(try await self.look(world, books) == .done)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a suspicion that passes leaves nothing behind")
    func passing() async throws {
        try await withTransaction { world in
            let books = WrittenBooks()
            books.page.withLock { $0.ledger = 70 }
            let suspicion = try await self.look(world, books)
            #expect(suspicion == Self.again)
            #expect(try await self.store(world).breaks(of: nil, limit: 10).map(\.kind) == ["balance"])
            books.page.withLock { $0.ledger = 0 }
            #expect(try await self.look(world, books) == .done)
            #expect(try await world.number("SELECT count(*) FROM reconciliation_breaks") == 0)
        }
    }

    @Test("operators note what they find out about a break, in the audit too; a suspicion takes no notes")
    func notes() async throws {
        try await withTransaction { world in
            let store = self.store(world)
            let books = WrittenBooks()
            books.page.withLock { $0.ledger = 70 }
            _ = try await self.look(world, books)
            let id = try #require(try await store.breaks(of: nil, limit: 10).first?.id)
            let note = { (id: Int64, order: OperatorOrder) in
                try await world.work.transaction(cause: Cause()) { try await store.note(id, by: order, in: $0) }
            }
            #expect(try await note(id, .grace) == .onlySuspected)
            #expect(try await note(id + 1, .grace) == .unknown)
            try await world.passes(ReconcileAccount.confirmAfter)
            #expect(try await self.look(world, books) == .done)
            let asked = OperatorOrder(name: "grace", reason: "asked the provider")
            guard case .written(let first) = try await note(id, asked) else {
                Issue.record("not written")
                return
            }
            _ = try await note(id, OperatorOrder(name: "linus", reason: "they correct it"))
            let known = try #require(try await store.breaks(of: nil, limit: 10).first)
            #expect(known.notes.map(\.author) == ["grace", "linus"] && known.notes.first?.id == first.id)
            #expect(known.notes.map(\.text) == ["asked the provider", "they correct it"])
            #expect(known.notes.allSatisfy { abs($0.writtenAt.timeIntervalSince(world.clock.now)) < 60 })
            let acts = try await world.database.psql(
                "SELECT actor, act, subject, reason FROM audit_log ORDER BY number"
            )
            #expect(acts.first == "grace|break.noted|break-\(id)|asked the provider" && acts.count == 2)
            for sql in ["UPDATE break_notes SET text = 'x'", "DELETE FROM break_notes"] {
                await #expect(throws: (any Error).self) { try await world.database.psql(sql) }
            }
            // A look that no longer finds it ends the break, with its notes.
            books.page.withLock { $0.ledger = 0 }
            #expect(try await self.look(world, books) == .done)
            #expect(try await world.number("SELECT count(*) FROM break_notes") == 2)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("money in suspense and money on its way are expected where the provider has them")
    func expected() async throws {
        try await withTransaction { world in
            let store = self.store(world)
            let ada = ReconciliationStore.Account(name: "ada-account", user: world.ada.uuid)
            let bayo = ReconciliationStore.Account(name: "bayo-account", user: world.bayo.uuid)
            try await world.funds("ada-account", 1000, "1-anc_inb_trsf")
            // Above what the wallet may hold.
            try await world.funds("ada-account", 40_000_000, "2-anc_inb_trsf")
            let now = world.clock.now.addingTimeInterval(-3600)
            #expect(try await store.ourBooks(of: ada, since: now).expected == 40_001_000)

            let paid = try await world.pays("bayo", 300)
            try await world.beats()
            try await world.runs { _ = try await SubmissionStore().begin([paid], in: $0) }
            let open = try await store.ourBooks(of: ada, since: now)
            #expect([open.expected, open.leaving, open.arriving] == [40_001_000, 300, 0])
            #expect(try await store.ourBooks(of: bayo, since: now).arriving == 300)
            #expect(open.transfers.map(\.reference) == [TransferReference.text(of: paid)])
            #expect(open.transfers.map(\.isOutgoing) == [true])

            let verdict = TransferVerdict(outcome: .completed, evidence: "test", providerID: "1-anc_trsf")
            try await world.runs { _ = try await SubmissionStore().settle([(paid, verdict)], in: $0) }
            let done = try await store.ourBooks(of: ada, since: now)
            #expect([done.expected, done.leaving, done.arriving] == [40_000_700, 0, 0])
            #expect(try await store.ourBooks(of: bayo, since: now).expected == 300)
            // Older than the look, and named by the provider.
            let later = world.clock.now.addingTimeInterval(3600)
            #expect(try await store.ourBooks(of: ada, since: later).transfers.isEmpty)
            let named = try await store.ourBooks(
                of: ada,
                since: later,
                references: [TransferReference.text(of: paid)],
                payments: ["1-anc_py"]
            )
            #expect(named.transfers.map(\.state) == ["completed"] && named.payments.map(\.amount) == [1000])
        }
    }

    @Test("a look is asked for once per account, spread over a time, and counts as waited for until it is done")
    func asking() async throws {
        try await withTransaction { world in
            let store = self.store(world)
            let all = try await world.work.transaction(cause: Cause()) { transaction in
                try await store.ask(for: nil, spread: .seconds(3000), in: transaction)
            }
            #expect(all == 3)
            let jobs = "SELECT count(*), count(DISTINCT due_at) FROM jobs WHERE kind = 'reconcile_account'"
            #expect(try await world.database.psql(jobs) == ["3|3"])
            #expect(try await store.waiting(for: nil) == 3)
            try await world.runs { try await store.ask(for: "ada-account", in: $0) }
            #expect(try await world.database.psql(jobs) == ["3|3"])
            #expect(try await store.waiting(for: "ada-account") == 1)
            try await world.passes(.seconds(1))
            #expect(try await self.look(world, WrittenBooks()) == .done)
            #expect(try await store.waiting(for: "ada-account") == 0)
            #expect(try await store.waiting(for: nil) == 2)
        }
    }

    @Test("the metrics show each kind, also those without a break")
    func metrics() async throws {
        try await withTransaction { world in
            let registry = PrometheusRegistry()
            let metrics = BreakMetrics(
                store: self.store(world),
                registry: registry,
                logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            )
            metrics.show([BreakCount(kind: "balance", count: 2, oldestAge: 90)])
            metrics.show(MoneyExplained(listed: 500, matched: 400, oldestSeconds: 70))
            let text = registry.text()
            #expect(text.contains(#"transfa_reconciliation_breaks{kind="balance"} 2"#))
            #expect(text.contains(#"transfa_reconciliation_breaks{kind="missing_there"} 0"#))
            #expect(text.contains(#"transfa_reconciliation_oldest_break_seconds{kind="balance"} 90"#))
            #expect(text.contains("transfa_reconciliation_listed_kobo 500"))
            #expect(text.contains("transfa_reconciliation_matched_kobo 400"))
            #expect(text.contains("transfa_reconciliation_oldest_unmatched_seconds 70"))
        }
    }
}
