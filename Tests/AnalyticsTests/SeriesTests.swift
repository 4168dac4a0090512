import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import Testing

@testable import AnalyticsService

@Suite("Series", .serialized)
struct SeriesTests {
    @Test("23:00 UTC on the last day of a month is the first day of the next one in Lagos, in every step")
    func monthEdge() async throws {
        try await withAnalytics { world in
            for (amount, moment) in [(1, "2026-11-30T22:59:59.999Z"), (20, "2026-11-30T23:00:00.000Z")] {
                let id = world.ids.next()
                try await world.hear(world.completed(id, amount: Int64(amount), at: moment), about: id)
            }
            let months = try await world.series(world.bayo, by: .month, from: "2026-11-01", to: "2026-12-31")
            #expect(months.map(\.inBank) == [1, 20] && months.map(\.moneyIn) == [1, 20])
            let days = try await world.series(world.ada, by: .day, from: "2026-11-29", to: "2026-12-02")
            #expect(days.map(\.moneyOut) == [0, 1, 20, 0] && days.map(\.fees) == [0, 7_500, 7_500, 0])
            // The Monday of that week is 2026-11-30.
            let weeks = try await world.series(world.ada, by: .week, from: "2026-11-23", to: "2026-12-06")
            #expect(weeks.map(\.moneyOut) == [0, 21])
        }
    }
}
