import Contracts
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Tiers", .serialized)
struct TierTests {
    private static let ngozi = OperatorOrder(name: "ngozi", reason: "documents_checked")

    private func order(_ tier: Int, _ reason: String = "documents_checked", in world: CustomerWorld) async throws {
        let order = try TierOrder(tier: tier, reason: reason)
        try await world.work.transaction(cause: Cause(correlationID: world.ids.next())) { transaction in
            try await ChangeTier(tiers: TierStore())(order, user: world.ada, by: Self.ngozi, in: transaction)
        }
    }

    @Test("a change is announced once and written down with who did it and why; nobody rewrites that")
    func change() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            for _ in 0..<2 { try await self.order(3, in: world) }
            try await self.order(1, "documents_forged", in: world)
            #expect(try await world.said() == ["user.tier_changed", "user.tier_changed"])
            let last = try #require(try await world.last(UserTierChanged.self))
            #expect(last.tier == 1 && last.before == 3 && last.reason == "documents_forged")

            let changes = try await TierStore().changes(of: world.ada, on: world.work)
            #expect(changes.map(\.before) == [1, 3] && changes.map(\.after) == [3, 1])
            #expect(changes.map(\.reason) == ["documents_checked", "documents_forged"])
            #expect(changes.allSatisfy { $0.operatorName == "ngozi" })
            #expect(try await world.database.psql("SELECT count(request_id) FROM tier_changes") == ["2"])
            for sql in ["UPDATE tier_changes SET operator = 'nobody'", "DELETE FROM tier_changes"] {
                await #expect(throws: (any Error).self) { try await world.database.psql(sql) }
            }
            #expect(try await TierStore().changes(of: world.ada, on: world.work) == changes)
            await #expect(throws: PostgresError.self) {
                try await world.requests.client.query("SELECT number FROM tier_changes", as: world.ada.uuid)
            }
        }
    }

    @Test("there are three tiers, reasons are codes, and nobody has none")
    func refusals() async throws {
        try await withCustomer { world in
            for tier in [Int.min, 0, 4] {
                #expect(throws: FieldProblem(pointer: "/tier", rule: .tier)) {
                    try TierOrder(tier: tier, reason: "documents_checked")
                }
            }
            #expect(throws: FieldProblem(pointer: "/reason", rule: .reason)) {
                try TierOrder(tier: 2, reason: "He showed a passport")
            }
            await #expect(throws: CustomerError.userNotFound) { try await self.order(2, in: world) }
        }
    }
}
