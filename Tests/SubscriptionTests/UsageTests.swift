import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import Testing

@testable import SubscriptionService

@Suite("Usage", .serialized)
struct UsageTests {
    private func adjust(_ id: UUID, by delta: Int, in world: SubscriptionWorld) async throws -> Adjustment {
        let adjustment = try Adjustment(id: id, user: world.ada, delta: delta, now: world.clock.now)
        return try await world.work.transaction(cause: Cause()) { transaction in
            try await AdjustUsage(usage: world.usage)(adjustment, by: .grace, in: transaction)
        }
    }

    @Test("the newest count is shown, whatever comes late or twice")
    func newest() async throws {
        try await withSubscription { world in
            let (user, month) = (world.ada.uuid, world.month.text)
            let taken = { (used: Int) in
                ExternalSlotTaken(userID: user, transactionID: world.ids.next(), month: month, used: used)
            }
            try await world.hear(taken(3), sequence: 3)
            try await world.hear(taken(1), sequence: 1)
            try await world.hear(taken(3), sequence: 3)
            #expect(try await world.status().externalTransfersUsed == 3)
            let released = ExternalSlotReleased(userID: user, transactionID: world.ids.next(), month: month, used: 2)
            try await world.hear(released, sequence: 4)
            #expect(try await world.status().externalTransfersUsed == 2)
        }
    }

    @Test("of a month that is no longer counted the change alone is known")
    func change() async throws {
        try await withSubscription { world in
            for (used, sequence) in [(2, 1), (nil, 2), (nil, 2)] as [(Int?, Int64)] {
                try await world.work.transaction(cause: Cause()) { transaction in
                    let count = UsageCount(
                        user: world.ada,
                        month: world.month,
                        used: used,
                        step: -1,
                        sequence: sequence
                    )
                    try await world.usage.record(count, in: transaction)
                }
            }
            #expect(try await world.status().externalTransfersUsed == 1)
        }
    }

    @Test("another month's count is not this month's")
    func months() async throws {
        try await withSubscription { world in
            let event = ExternalSlotTaken(
                userID: world.ada.uuid,
                transactionID: world.ids.next(),
                month: "2020-02",
                used: 5
            )
            try await world.hear(event)
            #expect(try await world.status().externalTransfersUsed == 0)
        }
    }

    @Test("a correction is announced once per id, with the month of today")
    func correction() async throws {
        try await withSubscription { world in
            let id = world.ids.next()
            let first = try await self.adjust(id, by: 2, in: world)
            #expect(try await self.adjust(id, by: 2, in: world) == first)
            #expect(try await world.said() == ["usage.adjusted"])
            let event = try await world.last(UsageAdjusted.self)
            #expect(event?.adjustmentID == id && event?.delta == 2 && event?.month == world.month.text)
            #expect(event?.month.count == 7)
            await #expect(throws: SubscriptionError.adjustmentDiffers) { try await self.adjust(id, by: 1, in: world) }
        }
    }

    @Test("a correction of nothing or of very much is refused", arguments: [0, 101, -101])
    func range(delta: Int) {
        let problem = #expect(throws: FieldProblem.self) {
            try Adjustment(id: UUID(), user: UserID(UUID()), delta: delta, now: Date())
        }
        #expect(problem?.pointer == "/delta")
    }

    @Test("a month is read from both its forms and written as yyyy-MM")
    func text() {
        #expect(UsageMonth(text: "2026-11")?.text == "2026-11")
        #expect(UsageMonth(text: "2026-11-21")?.firstDay.description == "2026-11-01")
        #expect(UsageMonth(text: "2026-13") == nil && UsageMonth(text: "november") == nil)
    }
}
