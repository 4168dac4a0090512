import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Replay")
struct ReplayTests {
    @Test("what the inbox knows has no effect; what it never had takes effect once, whoever comes first")
    func once() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let bodies = try (1...40).map { try envelope(user, Int64($0)) }
            let handlers = Till().handlers()
            try await kit.processor(handlers).process(bodies.prefix(10).compactMap { IncomingEvent(body: $0) })
            async let live = kit.processor(handlers).process(
                bodies.suffix(20).compactMap { IncomingEvent(body: $0) }
            )
            let answer = try await kit.replay(bodies, handlers, .run)
            let new = try await live
            #expect(answer.results.count == 40)
            #expect(answer.results.prefix(10).allSatisfy { $0.outcome == .known })
            #expect(answer.results[10..<20].allSatisfy { $0.outcome == .applied })
            #expect(answer.results.count { $0.outcome == .applied } + new == 30)
            #expect(try await kit.effects(of: user).sorted() == Array(1...40))
            let before = try await kit.database.checksums()
            let again = try await kit.replay(bodies, handlers, .run)
            #expect(again.results.allSatisfy { $0.outcome == .known })
            #expect(try await kit.database.checksums() == before)
        }
    }

    @Test("an event that the inbox has lost takes effect again, once")
    func lost() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let body = try envelope(user, 5)
            let handlers = Till().handlers()
            _ = try await kit.replay([body], handlers, .run)
            try await kit.execute("DELETE FROM inbox")
            for _ in 0..<2 { _ = try await kit.replay([body, body], handlers, .run) }
            #expect(try await kit.effects(of: user) == [5, 5])
        }
    }

    @Test("a handler sees by which replay an event comes, and a delivered one by none")
    func replayID() async throws {
        try await Kit.with { kit in
            try await Ranks.prepare(kit)
            let (ranks, replay) = (Ranks(), ids.next())
            let request = ids.next()
            let bodies = [try envelope(UUID(), 1, correlation: request), try envelope(UUID(), 2, correlation: request)]
            try await kit.processor(ranks.handlers()).process(bodies.prefix(1).compactMap { IncomingEvent(body: $0) })
            _ = try await kit.replay(bodies, ranks.handlers(), .run, id: replay)
            _ = try await kit.replay(bodies, ranks.handlers(), .dryRun, id: replay)
            #expect(ranks.replays.withLock { $0 } == [nil, replay, replay, replay])
        }
    }

    @Test("without effects jobs are skipped until an operator releases them, and those that were done stay done")
    func effects() async throws {
        try await Kit.with { kit in
            try await Ranks.prepare(kit)
            let (calls, request) = (Locked(0), ids.next())
            let bodies = [
                try envelope(UUID(), 500, correlation: request), try envelope(UUID(), 600, correlation: request),
            ]
            let runner = kit.runner(
                JobDefinition(Ranks.job) { _ in
                    calls.withLock { $0 += 1 }
                    return .done
                }
            )
            _ = try await kit.replay(Array(bodies.prefix(1)), Ranks().handlers(), .run, effects: .off)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await runner.run() }
                // A job that is due is run; the skipped one, which is older, would have been run before it.
                _ = try await kit.replay(Array(bodies.suffix(1)), Ranks().handlers(), .run, effects: .on)
                try await eventually("the job of a replay with effects") {
                    try await kit.number("SELECT count(*) FROM jobs WHERE state = 'done'") == 1
                }
                group.cancelAll()
            }
            #expect(calls.withLock { $0 } == 1)
            #expect(
                try await kit.texts("SELECT last_error FROM jobs WHERE state = 'skipped'") == [
                    "replayed_without_effects"
                ]
            )
            let skipped = try #require(try await kit.text("SELECT id::text FROM jobs WHERE state = 'skipped'"))
            let id = try #require(UUID(text: skipped))
            #expect(try await kit.operations().releaseJob(id, by: grace))
            #expect(try await kit.texts("SELECT state FROM jobs ORDER BY state") == ["done", "queued"])
        }
    }

    @Test("a job that is asked for again is left alone without effects")
    func requeued() async throws {
        try await Kit.with { kit in
            var handlers = EventHandlers()
            handlers.on(WalletCredited.self) { _, transaction in try await transaction.requeue("tidy", key: "all") }
            try await kit.processor(handlers).process([try incoming(UUID(), 1)])
            try await kit.execute("UPDATE jobs SET state = 'done', finished_at = now()")
            _ = try await kit.replay([try envelope(UUID(), 2)], handlers, .run, effects: .off)
            #expect(try await kit.texts("SELECT state FROM jobs") == ["done"])
            _ = try await kit.replay([try envelope(UUID(), 3)], handlers, .run, effects: .on)
            #expect(try await kit.texts("SELECT state FROM jobs") == ["queued"])
        }
    }

    @Test("what may not be handled now, and what fails, is told and neither parked nor handled")
    func refused() async throws {
        try await Kit.with { kit in
            let (poisoned, ada, bayo) = (UUID(), UUID(), UUID())
            let till = Till(refusing: [1, 7])
            let first = try envelope(poisoned, 1)
            try await kit.processor(till.handlers()).process([first].compactMap { IncomingEvent(body: $0) })
            let bodies = [
                first, try envelope(poisoned, 2), try envelope(ada, 3),
                try envelope(ada, 4, id: id(after: .seconds(-40 * 86_400))), try envelope(ada, 5, version: 9),
                try envelope(bayo, 7), try envelope(bayo, 8),
            ]
            let answer = try await kit.replay(bodies, till.handlers(), .run)
            let outcomes = answer.results.map { "\($0.outcome.rawValue) \($0.reason ?? "")" }
            #expect(
                outcomes == [
                    "refused already_parked", "refused subject_parked", "applied ", "refused beyond_dedupe_window",
                    "refused unknown_version", "failed HandlerFailure", "applied ",
                ]
            )
            #expect(try await kit.effects(of: ada) == [3])
            #expect(try await kit.effects(of: bayo) == [8])
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 1)
        }
    }

    @Test("what took effect stands in the audit with who asked for it and why; what did not does not")
    func audited() async throws {
        try await Kit.with { kit in
            let (body, replay) = (try envelope(UUID(), 1), ids.next())
            for _ in 0..<2 { _ = try await kit.replay([body], Till().handlers(), .run, id: replay) }
            _ = try await kit.replay([body], Till().handlers(), .dryRun, id: replay)
            let acts = try await kit.texts(
                "SELECT actor || ' ' || act || ' ' || subject || ' ' || after FROM audit_log"
            )
            #expect(acts == [#"grace replay.applied \#(replay.lowercased) {"effects":"off","events":1}"#])
        }
    }

    @Test("bytes that are no event are refused with their place, and none of the batch is handled")
    func notAnEvent() async throws {
        try await Kit.with { kit in
            let user = UUID()
            await #expect(throws: ReplayProblem.notAnEvent(line: 2)) {
                try await kit.replay([try envelope(user, 1), Data("{}".utf8)], Till().handlers(), .run)
            }
            let effects = try await kit.effects(of: user)
            #expect(effects.isEmpty)
        }
    }
}
