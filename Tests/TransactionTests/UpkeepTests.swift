import AnchorClient
import Contracts
import Foundation
import Logging
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("What age decides")
struct UpkeepTests {
    @Test("a transfer without a call to the provider fails after a day, and the money is free again")
    func failUnsent() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let old = try await world.pays("bayo", 300)
            try await world.passes(.seconds(23 * 3600))
            let young = try await world.pays("bayo", 200)
            try await world.runs { try await LedgerUpkeep().failUnsent(in: $0) }
            #expect(try await world.history.wallet(of: world.ada)?.held == 500)

            try await world.passes(.seconds(2 * 3600))
            try await world.runs { try await LedgerUpkeep().failUnsent(in: $0) }
            #expect(try await world.history.transfer(old, for: world.ada)?.state == "failed")
            #expect(try await world.history.transfer(old, for: world.ada)?.failureReason == "expired")
            #expect(try await world.history.transfer(young, for: world.ada)?.state == "accepted")
            #expect(try await world.history.wallet(of: world.ada)?.available == 800)
            #expect(try await world.number("SELECT count(*) FROM provider_calls") == 0)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("nonces go after a day and refusals after thirty, not before")
    func prune() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            #expect(try await world.orders("bayo", 5000).outcome == .refused("insufficient_funds"))
            let nonces = "SELECT count(*) FROM approval_nonces"
            let keys = "SELECT count(*) FROM refused_orders"
            for (hours, left) in [(23, [1, 1]), (2, [0, 1]), (30 * 24 - 26, [0, 1]), (2, [0, 0])] {
                try await world.passes(.seconds(hours * 3600))
                try await world.runs { try await LedgerUpkeep().prune(in: $0) }
                #expect(try await world.number(nonces) == left[0], "\(hours) hours later")
                #expect(try await world.number(keys) == left[1], "\(hours) hours later")
            }
        }
    }

    @Test("both are among the service's schedules, beside those of drops and requests")
    func scheduled() async throws {
        try await withTransaction { world in
            let names = [
                "prune_orders", "fail_unsent", "weigh_banks", "note_risk_alerts", "sweep_money_drops",
                "expire_payment_requests", "reconcile", "continue_recovery",
            ]
            let store = ReconciliationStore(client: world.work.client, poolAccount: "pool")
            let recoveries = RecoveryStore(client: world.work.client, poolAccount: "pool")
            let free = BillStore(client: world.work.client, billing: .nobody)
            #expect(TransactionSchedules.all(store, recoveries, free).map(\.name) == names)
            let billing = ProviderBilling(payer: .customers, account: nil)
            let billed = BillStore(client: world.work.client, billing: billing)
            let more = TransactionSchedules.all(store, recoveries, billed).map(\.name)
            #expect(Set(more).subtracting(names) == ["ask_bills"])
        }
    }

    @Test("open transfers are counted by state and route, with what they hold and the age of the oldest")
    func metrics() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-0")
            for _ in 0..<2 { try await world.pays("bayo", 100) }
            try await world.passes(.seconds(90))
            let store = OpenTransferStore(client: world.work.client)
            let open = try await store.counts()
            #expect(open.map(\.state) == ["accepted"] && open[0].count == 2 && open[0].amount >= 200)
            #expect((90...120).contains(open[0].oldestSeconds))

            let registry = PrometheusRegistry()
            let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            LedgerMetrics(store: store, registry: registry, logger: logger).show(open)
            let text = registry.text()
            let labels = #"{state="accepted",route="\#(open[0].route)"}"#
            #expect(text.contains("transfa_transfers_open\(labels) 2"))
            #expect(text.contains("transfa_transfers_held_kobo\(labels) \(open[0].amount)"))
            #expect(text.contains(#"transfa_transfers_open{state="unknown",route="external"} 0"#))
        }
    }

    @Test("what the provider refuses by itself says nothing about a bank: the database knows every such word")
    func refusals() async throws {
        try await withTransaction { world in
            let text = try await world.database.psql("SELECT pg_get_functiondef('weigh_banks'::regproc)").joined()
            for code in AnchorRefusalCode.allCases { #expect(text.contains("'\(code.rawValue)'")) }
        }
    }

    @Test("the first day of a bank account begins when it was added, however late that is heard, and never later")
    func firstDay() async throws {
        try await withTransaction { world in
            let age = "SELECT round(extract(epoch FROM transfa_now() - added_at)) FROM beneficiaries WHERE id = "
            for (late, seconds) in [(23.0 * 3600, 82_800...82_860), (-3600, 0...60)] {
                let added = BeneficiaryAdded(
                    userID: world.ada.uuid,
                    beneficiaryID: world.ids.next(),
                    anchorCounterpartyID: "1-anc_cp",
                    isDefault: false,
                    bankName: "Bank",
                    accountNumber: Sealed("s1.c2VhbGVk"),
                    accountName: Sealed("s1.c2VhbGVk")
                )
                let moment = world.clock.now.addingTimeInterval(-late)
                try await world.hear(added, about: world.ada.uuid, sequence: 2, at: moment)
                let old = try await world.number(age + "'\(added.beneficiaryID)'")
                #expect(old.map(seconds.contains) == true)
            }
        }
    }

    @Test("money that waits in suspense is listed as such and is not in the wallet")
    func suspense() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            // Above what the wallet may hold.
            try await world.funds("ada-account", 40_000_000, "p-2")
            let rows = try await world.history.page(of: world.ada, HistoryFilter(), limit: 10).rows
            #expect(rows.map(\.state) == ["in_suspense", "completed"])
            #expect(rows.map { $0.endedAt == nil } == [true, false])
            #expect(try await world.history.transfer(rows[0].id, for: world.ada)?.state == "in_suspense")
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            let waiting = try await world.history.page(of: world.ada, HistoryFilter(state: "in_suspense"), limit: 10)
                .rows
            #expect(waiting.map(\.id) == [rows[0].id])
            let booked = try await world.history.page(of: world.ada, HistoryFilter(state: "completed"), limit: 10).rows
            #expect(booked.map(\.id) == [rows[1].id])
        }
    }

    @Test("a list can be cut by type, state and day")
    func filters() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let paid = try await world.pays("bayo", 300)
            let morning = world.clock.now
            try await world.passes(.seconds(2 * 86_400))
            let later = try await world.pays("bayo", 200)
            func found(_ filter: HistoryFilter) async throws -> [UUID] {
                try await world.history.page(of: world.ada, filter, limit: 10).rows.map(\.id)
            }
            #expect(try await found(HistoryFilter(type: "p2p")) == [later, paid])
            #expect(try await found(HistoryFilter(type: "inbound")).count == 1)
            #expect(try await found(HistoryFilter(type: "p2p", state: "accepted")) == [later, paid])
            #expect(try await found(HistoryFilter(type: "p2p", state: "completed")).isEmpty)
            #expect(try await found(HistoryFilter(from: world.clock.now.addingTimeInterval(-60).firstID)) == [later])
            let before = morning.addingTimeInterval(60).firstID
            #expect(try await found(HistoryFilter(before: before, type: "p2p")) == [paid])
            for (column, words) in [("type", HistoryFilter.types), ("state", HistoryFilter.states)] {
                let rule = "pg_get_constraintdef(oid)"
                let known = try await world.database.psql(
                    """
                    SELECT m[1] FROM pg_constraint, regexp_matches(\(rule), '''(\\w+)''', 'g') m
                    WHERE conrelid = 'transfers'::regclass AND \(rule) ~ '^CHECK \\(\\(\\(?\(column) = ANY'
                    """
                )
                // What operators order out of suspense is in no list.
                let listed = Set(known).subtracting(["release"])
                #expect(!listed.isEmpty && listed.isSubset(of: words), "\(column): \(known)")
                #expect(Set(words).subtracting(known).isSubset(of: ["in_suspense", "returned"]))
            }
        }
    }
    @Test("a page of what is rare ends where it has looked, and the pages together have all of it once")
    func rare() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 100_000, "p-1")
            var paid: [UUID] = []
            for number in 0..<12 {
                try await world.passes(.seconds(60))
                paid.insert(try await world.pays("bayo", 100 + Int64(number)), at: 0)
                if number % 4 == 0 { try await world.funds("ada-account", 10, "rare-\(number)") }
            }
            var history = world.history
            for reach in 1...5 {
                history.reach = reach
                for (filter, wanted) in [(HistoryFilter(type: "inbound"), 4), (HistoryFilter(type: "p2p"), 12)] {
                    var (rest, found, pages) = (filter, [UUID](), 0)
                    while pages < 40 {
                        let page = try await history.page(of: world.ada, rest, limit: 2)
                        #expect(page.rows.count <= 2)
                        found += page.rows.map(\.id)
                        pages += 1
                        guard let next = page.next else { break }
                        rest.before = next
                    }
                    #expect(found.count == wanted && Set(found).count == wanted)
                    #expect(found == found.sorted { $1.bytes.lexicographicallyPrecedes($0.bytes) })
                    if wanted == 12 { #expect(found == paid) }
                }
            }
        }
    }
}
