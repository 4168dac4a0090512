import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

extension TransactionWorld {
    fileprivate var suspense: SuspenseStore { SuspenseStore(client: self.work.client) }

    /// Proposes; the id of the release and what came of it.
    fileprivate func proposes(
        _ operator: String,
        _ money: UUID,
        _ disposition: SuspenseStore.Disposition,
        request: UUID? = nil
    ) async throws -> (id: UUID, word: String) {
        let id = self.ids.next()
        let order = OperatorOrder(name: `operator`, reason: "checked", request: request)
        let word = try await self.work.transaction(cause: Cause()) { transaction in
            try await self.suspense.propose(id, of: money, disposition, by: order, in: transaction)
        }
        return (id, word)
    }

    fileprivate func decides(
        _ operator: String,
        _ release: UUID,
        approve: Bool = true,
        request: UUID? = nil
    ) async throws -> String {
        try await self.work.transaction(cause: Cause(correlationID: request)) { transaction in
            try await self.suspense.decide(release, approve: approve, by: `operator`, in: transaction)
        }
    }

    /// Money arrives for Ada while her wallet is frozen.
    fileprivate func suspends(_ amount: Int64) async throws -> UUID {
        try await self.database.psql("UPDATE users SET credits_blocked = true WHERE id = '\(self.ada)'")
        try await self.funds("ada-account", amount, "p-\(amount)")
        return try #require(try await self.suspense.waiting(limit: 10).first { $0.amount == amount }?.id)
    }
}

@Suite("Money in suspense and the audit of what operators do")
struct SuspenseTests {
    @Test("two people release money into the wallet, once, when the wallet may take it")
    func credit() async throws {
        try await withTransaction { world in
            let money = try await world.suspends(1000)
            let request = world.ids.next()
            let release = try await world.proposes("grace", money, .credit, request: request)
            #expect(release.word == "proposed")
            #expect(try await world.proposes("linus", money, .giveBack).word == "already_proposed")
            #expect(try await world.decides("grace", release.id) == "same_operator")
            #expect(try await world.decides("linus", release.id) == "recipient_unavailable")
            #expect(try await world.suspense.waiting(limit: 10).map(\.release?.proposedBy) == ["grace"])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 0)

            try await world.database.psql("UPDATE users SET credits_blocked = false")
            #expect(try await world.decides("linus", release.id, request: request) == "approved")
            #expect(try await world.decides("ada", release.id) == "decided")
            #expect(try await world.decides("linus", world.ids.next()) == "unknown")
            #expect(try await world.proposes("grace", money, .credit).word == "not_in_suspense")
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            let entries = try await world.history.page(of: world.ada, HistoryFilter(), limit: 10).rows
            #expect(entries.map(\.id) == [money] && entries.map(\.state) == ["completed"])
            #expect(try await world.suspense.waiting(limit: 10).isEmpty)
            // The owner may read what stands beside the entry, as statements do, and others are told that it arrived.
            #expect(try await world.history.transfer(release.id, for: world.ada)?.amount == 1000)
            let told = "SELECT count(*) FROM outbox WHERE type = 'transaction.completed'"
            #expect(try await world.number("\(told) AND subject = '\(release.id.lowercased)'") == 1)
            let (subject, id, from) = (money.lowercased, release.id.lowercased, request.lowercased)
            let after = #""disposition":"credit","reason":"checked","release":"\#(id)""#
            let before = #"{"proposed_by":"grace","release":"\#(id)","state":"proposed"}"#
            let proposed = #"checked||{"amount":1000,\#(after)}|\#(from)"#
            let approved = #"checked|\#(before)|{"amount":1000,\#(after),"state":"approved"}|\#(from)"#
            #expect(
                try await world.acts("") == [
                    "grace|suspense.proposed|\(subject)|\(proposed)", "linus|suspense.approved|\(subject)|\(approved)",
                ]
            )
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a wallet is not filled above what it may hold, and what two people return is shown as returned")
    func giveBack() async throws {
        try await withTransaction { world in
            let money = try await world.suspends(40_000_000)
            try await world.database.psql("UPDATE users SET credits_blocked = false")
            let credit = try await world.proposes("grace", money, .credit)
            #expect(try await world.decides("linus", credit.id) == "recipient_limit")
            #expect(try await world.decides("linus", credit.id, approve: false) == "rejected")
            let rejected = try await world.acts("suspense.rejected")
            let start = "linus|suspense.rejected|\(money.lowercased)|checked|"
            #expect(rejected.count == 1 && rejected[0].hasPrefix(start))
            #expect(rejected.first?.contains(#""state":"rejected"}"#) == true)
            let back = try await world.proposes("linus", money, .giveBack)
            #expect(back.word == "proposed")
            #expect(try await world.decides("grace", back.id) == "approved")
            let entry = try await world.history.transfer(money, for: world.ada)
            #expect(entry?.state == "returned")
            #expect(try await world.history.wallet(of: world.ada)?.posted == 0)
            let books = try await ReconciliationStore(client: world.work.client, poolAccount: "pool").ourBooks(
                of: ReconciliationStore.Account(name: "ada-account", user: world.ada.uuid),
                since: world.clock.now.addingTimeInterval(-3600),
                references: ["rel-\(back.id.lowercased)"]
            )
            #expect(books.expected == 0)
            #expect(books.transfers.map(\.amount) == [40_000_000] && books.transfers.map(\.isOutgoing) == [true])
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("what cannot be recorded is not done")
    func unrecorded() async throws {
        try await withTransaction { world in
            let money = try await world.suspends(1000)
            try await world.database.psql("UPDATE users SET credits_blocked = false")
            let release = try await world.proposes("grace", money, .credit).id
            try await world.database.psql("ALTER TABLE audit_log ADD CONSTRAINT no_linus CHECK (actor <> 'linus')")
            await #expect(throws: (any Error).self) { try await world.decides("linus", release) }
            #expect(try await world.history.wallet(of: world.ada)?.posted == 0)
            #expect(try await world.suspense.waiting(limit: 10).map(\.release?.id) == [release])
            try await world.database.psql("ALTER TABLE audit_log DROP CONSTRAINT no_linus")
            #expect(try await world.decides("linus", release) == "approved")
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("two decisions at the same time take effect once")
    func race() async throws {
        try await withTransaction { world in
            let money = try await world.suspends(1000)
            try await world.database.psql("UPDATE users SET credits_blocked = false")
            let release = try await world.proposes("grace", money, .credit).id
            async let first = world.decides("linus", release)
            async let second = world.decides("barbara", release)
            let words = [try await first, try await second]
            #expect(words.sorted() == ["approved", "decided"])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test(
        "an act that was changed, taken out, added or cut off shows",
        arguments: [
            ("UPDATE audit_log SET actor = 'mallory' WHERE number = 1", "I26 an act is what its hash says|#1"),
            ("DELETE FROM audit_log WHERE number = 1", "I26 acts are a chain without gaps|#2"),
            ("DELETE FROM audit_log WHERE number = 2", "I26 the chain ends where it did|#2"),
            (
                "INSERT INTO audit_log SELECT 3, happened_at, actor, act, subject, before, after, request_id, previous, hash "
                    + "FROM audit_log WHERE number = 2",
                "I26 acts are a chain without gaps|#3"
            ),
        ]
    )
    func tampering(sql: String, breach: String) async throws {
        try await withTransaction { world in
            let money = try await world.suspends(1000)
            let release = try await world.proposes("grace", money, .credit).id
            #expect(try await world.decides("linus", release, approve: false) == "rejected")
            #expect(try await world.brokenInvariants() == [])
            if !sql.hasPrefix("INSERT") {
                await #expect(throws: (any Error).self) { try await world.database.psql(sql) }
            }
            let off = "ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only"
            try await world.database.psql(off)
            try await world.database.psql(sql)
            #expect(try await world.brokenInvariants().contains(breach))
        }
    }
}
