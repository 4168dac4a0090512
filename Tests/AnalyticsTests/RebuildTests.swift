import Contracts
import EventLoops
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
        let body: Data
    }

    /// Transfers of all kinds, some returned, some told twice under other ids.
    private static func steps(_ world: AnalyticsWorld, count: Int) throws -> [Step] {
        let types: [TransactionType] = [.p2p, .selfTransfer, .moneyDrop, .subscriptionCharge, .dropRefund, .p2p]
        let sealed = try world.sealed("Fuel")
        return try (0..<count).flatMap { number -> [Step] in
            let id = world.ids.next()
            func transfer() throws -> Step {
                if number % 7 == 6 {
                    return Step(
                        subject: id,
                        body: try world.said(world.claimed(id, amount: Int64(number + 1)), about: id)
                    )
                }
                if number % 7 == 5 {
                    let data = world.inbound(
                        id,
                        amount: Int64(number + 1),
                        reason: number % 2 == 0 ? "suspense" : "credited"
                    )
                    return Step(subject: id, body: try world.said(data, about: id))
                }
                let data = world.completed(
                    id,
                    amount: Int64(number + 1),
                    type: types[number % types.count],
                    route: number % 2 == 0 ? .external : .internal,
                    to: number % 5 == 0 ? .merchant : .personal,
                    words: number % 4 == 0 ? sealed : nil,
                    at: "2026-11-\(10 + number % 20)T\(10 + number % 14):30:00.000Z"
                )
                return Step(subject: id, body: try world.said(data, about: id))
            }
            var steps = [try transfer()]
            if number % 3 == 0 { steps.append(try transfer()) }
            if number % 4 == 1 { steps.append(Step(subject: id, body: try world.said(world.reversed(id), about: id))) }
            if number % 8 == 1 { steps.append(try transfer()) }
            return steps
        }
    }

    /// The steps in an order by chance that keeps each subject's own.
    private static func shuffled(_ steps: [Step]) -> [Step] {
        var waiting = Dictionary(grouping: steps, by: \.subject).mapValues { $0[...] }
        return steps.map(\.subject).shuffled().compactMap { waiting[$0]?.popFirst() }
    }

    @Test("what is made again from the archive equals what was counted as events came, row for row, in any order")
    func equal() async throws {
        try await withAnalytics { world in
            let steps = try Self.steps(world, count: 60)
            world.archive.withLock { $0 = Self.shuffled(steps).map(\.body) }
            try await world.handles(Self.shuffled(steps).map(\.body))
            let words = try await world.database.psql("SELECT key FROM jobs WHERE kind = 'read_words'")
            for key in words.prefix(5) { _ = try await world.readsWords(of: try #require(UUID(text: key))) }
            let counted = try await world.projection()
            #expect(counted.count > 150)

            let rebuild = try await world.rebuilds()
            #expect(rebuild.generation == 2 && rebuild.rowsChanged == 0 && rebuild.applied == steps.count)
            #expect(try await world.projection() == counted)
            try await Self.clean(world, generation: 1)
            #expect(try await world.database.psql("SELECT count(*) FROM movements WHERE generation = 1") == ["0"])
            #expect(try await world.database.psql("SELECT count(*) FROM projection_events") == ["0"])
            let acts = try await world.database.psql(
                "SELECT act, subject, actor, reason FROM audit_log ORDER BY number"
            )
            #expect(acts == ["projection.rebuild_begun|money|grace|a test", "projection.rebuilt|money|grace|a test"])
        }
    }

    private static func clean(_ world: AnalyticsWorld, generation: Int) async throws {
        let outcome = try await world.run("clean_projection", "money/\(generation)") {
            try await world.service.ownOperations.clean($0)
        }
        #expect(outcome == .done)
    }

    @Test("what is heard while it is under way is in both, pages may come twice, and users' choices stay")
    func meanwhile() async throws {
        try await withAnalytics { world in
            let steps = try Self.steps(world, count: 30).map(\.body)
            try await world.handles(Array(steps.prefix(25)))
            let id = world.ids.next()
            let chosen = try world.said(world.completed(id, amount: 777), about: id)
            try await world.handles([chosen])
            try await world.chooses(world.ada, .savings, for: id)

            let replay = world.ids.next()
            let begun = try await world.begin(replay)
            #expect(try await world.begin(replay) == begun)
            await #expect(throws: RebuildProblem.underWay) { try await world.begin(world.ids.next()) }
            try await world.send(replay, steps.prefix(12))
            try await world.send(replay, steps.prefix(9))
            // The archive has some before analytics hears them, and analytics hears some before the archive has them.
            try await world.send(replay, steps[25..<28])
            try await world.handles(Array(steps[25...]))
            #expect(try await world.finish(replay) == .missing(14), "13 of the first, and the chosen one")
            let shown = try await world.projection()
            try await world.send(replay, steps[12...])
            try await world.send(replay, [chosen])
            async let other = world.finish(replay)
            guard case .live(let rebuild) = try await world.finish(replay) else { throw TestFailure("not whole") }
            let same = try await other
            #expect(same == .live(rebuild), "asked twice at once it is the same")
            #expect(rebuild.generation == begun.generation && rebuild.rowsChanged == 0)
            #expect(try await world.finish(replay) == .live(rebuild), "said again it is the same")
            #expect(try await world.begin(replay) == rebuild, "and so it is for who has not heard of the end")
            #expect(try await world.projection() == shown)
            #expect(try await world.categories(world.ada)["savings"] == [0, 777])
        }
    }

    @Test("an event that the archive tells of before it is heard counts once, when it is heard after the rebuild too")
    func ahead() async throws {
        try await withAnalytics { world in
            let (early, late) = (world.ids.next(), world.ids.next())
            try await world.hears(world.completed(early, amount: 100), about: early)
            let ahead = try world.said(world.completed(late, amount: 250), about: late)
            world.archive.withLock { $0.append(ahead) }
            #expect(try await world.rebuilds().applied == 2)
            let shown = try await world.projection()
            #expect(try await world.november(world.ada).moneyOut.kobo == 350)
            try await Self.clean(world, generation: 1)
            try await world.handles([ahead])
            #expect(try await world.projection() == shown)
            #expect(try await world.database.psql("SELECT count(*) FROM projection_events") == ["0"])
        }
    }

    @Test("what waits parked is left out until a retry applies it")
    func parked() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            // A time that is none: the projection cannot count it.
            try await world.hears(world.completed(id, at: "never"), about: id)
            #expect(try await world.database.psql("SELECT count(*) FROM parked_events") == ["1"])
            let rebuild = try await world.rebuilds()
            #expect(rebuild.applied == 0 && rebuild.known == 1)
        }
    }

    @Test("what cannot be applied stops the rebuild, which can be given up; people see what they saw")
    func notApplicable() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hears(world.completed(id), about: id)
            let shown = try await world.projection()
            let replay = world.ids.next()
            _ = try await world.begin(replay)
            let bad = try world.said(world.completed(world.ids.next(), at: "never"), about: id)
            let events = world.archive.withLock { $0 } + [bad]
            await #expect(throws: RebuildProblem.notApplicable(reason: "undecodable_data")) {
                try await world.send(replay, events)
            }
            #expect(try await world.cancel(replay).state == .cancelled)
            await #expect(throws: RebuildProblem.notUnderWay) { try await world.finish(replay) }
            #expect(try await world.projection() == shown)
            try await Self.clean(world, generation: 2)
            #expect(try await world.rebuilds().generation == 3)
            #expect(try await world.projection() == shown)
        }
    }

    @Test("what is not its publisher's stops the rebuild and counts for nobody")
    func forged() async throws {
        try await withAnalytics { world in
            let (id, replay) = (world.ids.next(), world.ids.next())
            _ = try await world.begin(replay)
            let forged = try world.said(world.completed(id), about: id, by: "notification")
            await #expect(throws: RebuildProblem.notApplicable(reason: "wrong_source")) {
                try await world.send(replay, [forged])
            }
            #expect(try await world.database.psql("SELECT count(*) FROM projection_events") == ["0"])
        }
    }

    @Test("an archive that begins later than the projection is refused")
    func tooLate() async throws {
        try await withAnalytics { world in
            let replay = world.ids.next()
            let later = world.clock.now.addingTimeInterval(60)
            await #expect(throws: RebuildProblem.self) { try await world.begin(replay, archiveFrom: later) }
            let begun = try await world.database.psql("SELECT count(*) FROM projection_rebuilds")
            #expect(begun == ["0"])
            let earlier = world.clock.now.addingTimeInterval(-86_400)
            let rebuild = try await world.begin(replay, archiveFrom: earlier)
            #expect(rebuild.state == .building)
        }
    }

    @Test("a projection that has gone wrong is put right, and the rows that change are counted")
    func repaired() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hears(world.completed(id), about: id)
            let right = try await world.november(world.ada)
            try await world.database.psql("UPDATE day_totals SET money_out = 1 WHERE user_id = '\(world.ada)'")
            #expect(try await world.november(world.ada) != right)
            #expect(try await world.rebuilds().rowsChanged == 2, "the wrong one, and the right one")
            #expect(try await world.november(world.ada) == right)
        }
    }
}
