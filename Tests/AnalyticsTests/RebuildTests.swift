import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import AnalyticsService

@Suite("Rebuilding", .serialized)
struct RebuildTests {
    /// One thing to hear; those of one transfer keep their order.
    private struct Step: Sendable {
        let subject: UUID
        let hear: @Sendable (AnalyticsWorld) async throws -> Void
    }

    /// Transfers of all kinds, some returned, some told twice.
    private static func steps(_ world: AnalyticsWorld, count: Int) throws -> [Step] {
        let types: [TransactionType] = [.p2p, .selfTransfer, .moneyDrop, .subscriptionCharge, .dropRefund, .p2p]
        let sealed = try world.sealed("Fuel")
        return (0..<count).flatMap { number -> [Step] in
            let id = world.ids.next()
            let hour = 10 + number % 14
            let transfer: @Sendable (AnalyticsWorld) async throws -> Void = { world in
                if number % 7 == 6 {
                    try await world.hear(world.claimed(id, amount: Int64(number + 1)), about: id)
                } else if number % 7 == 5 {
                    let reason = number % 2 == 0 ? "suspense" : "credited"
                    try await world.hear(world.inbound(id, amount: Int64(number + 1), reason: reason), about: id)
                } else {
                    let data = world.completed(
                        id,
                        amount: Int64(number + 1),
                        type: types[number % types.count],
                        route: number % 2 == 0 ? .external : .internal,
                        to: number % 5 == 0 ? .merchant : .personal,
                        words: number % 4 == 0 ? sealed : nil,
                        at: "2026-11-\(10 + number % 20)T\(hour):30:00.000Z"
                    )
                    try await world.hear(data, about: id)
                }
            }
            var steps = [Step(subject: id, hear: transfer)]
            if number % 3 == 0 { steps.append(Step(subject: id, hear: transfer)) }
            if number % 4 == 1 { steps.append(Step(subject: id) { try await $0.hear($0.reversed(id), about: id) }) }
            if number % 8 == 1 { steps.append(Step(subject: id, hear: transfer)) }
            return steps
        }
    }

    /// The steps in an order by chance that keeps each subject's own.
    private static func shuffled(_ steps: [Step]) -> [Step] {
        var waiting = Dictionary(grouping: steps, by: \.subject).mapValues { $0[...] }
        return steps.map(\.subject).shuffled().compactMap { waiting[$0]?.popFirst() }
    }

    @Test("what is made again from the facts equals what was counted as events came, in any order and repeated")
    func equal() async throws {
        try await withAnalytics { world in
            for step in Self.shuffled(try Self.steps(world, count: 60)) { try await step.hear(world) }
            let words = try await world.database.psql("SELECT key FROM jobs WHERE kind = 'read_words'")
            for key in words.prefix(5) { _ = try await world.readsWords(of: try #require(UUID(text: key))) }
            let counted = try await world.projection()
            #expect(counted.count > 60)

            let rebuild = try #require(try await world.rebuilds())
            #expect(rebuild.generation == 2 && rebuild.daysChanged == 0 && rebuild.facts > 30)
            #expect(try await world.projection() == counted)
            let old = "SELECT count(*) FROM movements WHERE generation = 1"
            #expect(try await world.database.psql(old) == ["0"])
        }
    }

    @Test("what is heard while it is under way is in both, and users' choices stay")
    func meanwhile() async throws {
        try await withAnalytics { world in
            let steps = try Self.steps(world, count: 30)
            for step in steps.prefix(20) { try await step.hear(world) }
            let id = world.ids.next()
            try await world.hear(world.completed(id, amount: 777), about: id)
            try await world.chooses(world.ada, .savings, for: id)

            let begun = try await world.rebuild.begin()
            #expect(try await world.rebuild.begin() == begun)
            for step in Self.shuffled(Array(steps.dropFirst(20))) { try await step.hear(world) }
            try await world.hear(world.reversed(steps[0].subject), about: steps[0].subject)
            let shown = try await world.projection()
            let rebuild = try #require(try await world.rebuilds())
            #expect(rebuild.generation == begun.generation && rebuild.daysChanged == 0)
            #expect(try await world.projection() == shown)
            #expect(try await world.categories(world.ada)["savings"] == [0, 777])
        }
    }

    @Test("a projection that has gone wrong is put right, and the days that change are counted")
    func repaired() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.completed(id), about: id)
            let right = try await world.november(world.ada)
            try await world.database.psql("UPDATE day_totals SET money_out = 1 WHERE user_id = '\(world.ada)'")
            #expect(try await world.november(world.ada) != right)
            #expect(try await world.rebuilds()?.daysChanged == 1)
            #expect(try await world.november(world.ada) == right)
        }
    }
}
