import Foundation
import Messaging
import Primitives
import ServiceTestSupport
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

    @Test("nonces go after a day and stored answers after thirty, not before")
    func prune() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            try await world.pays("bayo", 100)
            let nonces = "SELECT count(*) FROM approval_nonces"
            let keys = "SELECT count(*) FROM idempotency_keys"
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
                "prune_acceptance", "fail_unsent", "sweep_money_drops", "expire_payment_requests", "reconcile",
            ]
            let store = ReconciliationStore(client: world.work.client, poolAccount: "pool")
            #expect(TransactionSchedules.all(store).map(\.name) == names)
        }
    }

    @Test("money that waits in suspense is listed as such and is not in the wallet")
    func suspense() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            // Above what the wallet may hold.
            try await world.funds("ada-account", 40_000_000, "p-2")
            let rows = try await world.history.page(of: world.ada, HistoryFilter(), limit: 10)
            #expect(rows.map(\.state) == ["in_suspense", "completed"])
            #expect(rows.map { $0.endedAt == nil } == [true, false])
            #expect(try await world.history.transfer(rows[0].id, for: world.ada)?.state == "in_suspense")
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            let waiting = try await world.history.page(of: world.ada, HistoryFilter(state: "in_suspense"), limit: 10)
            #expect(waiting.map(\.id) == [rows[0].id])
            let booked = try await world.history.page(of: world.ada, HistoryFilter(state: "completed"), limit: 10)
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
                try await world.history.page(of: world.ada, filter, limit: 10).map(\.id)
            }
            #expect(try await found(HistoryFilter(type: "p2p")) == [later, paid])
            #expect(try await found(HistoryFilter(type: "inbound")).count == 1)
            #expect(try await found(HistoryFilter(type: "p2p", state: "accepted")) == [later, paid])
            #expect(try await found(HistoryFilter(type: "p2p", state: "completed")).isEmpty)
            #expect(try await found(HistoryFilter(from: world.clock.now.addingTimeInterval(-60).firstID)) == [later])
            let before = morning.addingTimeInterval(60).firstID
            #expect(try await found(HistoryFilter(before: before, type: "p2p")) == [paid])
        }
    }
}
