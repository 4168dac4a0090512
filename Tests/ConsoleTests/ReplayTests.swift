import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Replays")
struct ReplayTests {
    @Test("every selected event that the service hears is sent once, in the order of ids, and nothing else is")
    func selection() async throws {
        try await withConsole { world in
            let request = ids.next()
            let other = try await world.transfers(3)
            let wanted = try await world.transfers(450, correlation: request)
            // Nobody but notification hears of drops, and analytics has no part in created transfers.
            try await world.take([try envelope(type: "transaction.created", correlation: request)], from: 1000)
            let target = MadeUpTarget()
            let replay = try await world.replay(ReplaySelection(correlation: request))
            // What is stored later is not part of it.
            _ = try await world.transfers(1, correlation: request)
            let end = try await world.finish(replay, target)
            #expect(end.state == .finished)
            #expect(target.seen == wanted)
            #expect(end.planned == 450)
            #expect(end.counts == Replay.Counts(done: 450, applied: 450))
            for (selection, count) in try Self.selections(other, wanted) {
                let replay = try await world.replay(selection, .dryRun)
                #expect(replay.planned == count)
                #expect(try await world.finish(replay, MadeUpTarget()).counts.done == count)
            }
        }
    }

    private static func selections(_ other: [UUID], _ wanted: [UUID]) throws -> [(ReplaySelection, Int64)] {
        let all = Int64(other.count + wanted.count) + 1
        let tomorrow = Date(timeIntervalSinceNow: 86_400)
        var typed = ReplaySelection.recent
        typed.types = ["transaction.completed", "user.created"]
        var unheard = ReplaySelection.recent
        unheard.types = ["transaction.created"]
        return [
            (.recent, all), (typed, all), (unheard, 0), (ReplaySelection(from: tomorrow), 0),
            (ReplaySelection(ids: [other[0], wanted[5], UUID()]), 2), (ReplaySelection(subject: "nothing"), 0),
        ]
    }

    @Test("events that a service published about one subject are sent in the order of their sequences")
    func order() async throws {
        try await withConsole { world in
            let subject = UUID().lowercased
            let made = (0..<4).map { _ in ids.next() }
            // The ids were made in another order than the events had their turn.
            let bodies = try zip(made, [1, 3, 2, 4]).map { id, sequence in
                try envelope(id, type: "transaction.completed", subject: subject, sequence: Int64(sequence))
            }
            try await world.take(bodies)
            let target = MadeUpTarget()
            _ = try await world.finish(try await world.replay(.recent), target)
            #expect(target.seen == [made[0], made[2], made[1], made[3]])
        }
    }

    @Test(
        "answers are lost, the service is away, slow and replaced, and console stops: nothing is missed or applied twice"
    )
    func interrupted() async throws {
        try await withConsole { world in
            let wanted = try await world.transfers(900)
            let target = MadeUpTarget([.good, .diesAfter, .away, .slow(7), .diesAfter, .slow(1), .good])
            let replay = try await world.replay(.recent)
            var waits: [String] = []
            for _ in 0..<20 {
                // A job that has lost its process is run again by another, from what is committed.
                let outcome = try await world.slice(replay, target)
                guard case .again(let reason, _) = outcome else { break }
                waits.append(reason)
                if reason == "target_unavailable" { #expect(try await world.found(replay).error == reason) }
            }
            let end = try await world.found(replay)
            #expect(waits == ["target_unavailable", "target_unavailable", "target_unavailable"])
            #expect(end.state == .finished && end.error == nil)
            #expect(target.applied == wanted)
            #expect(end.counts.done == 900)
            // What had taken effect when its answer was lost was known the second time.
            #expect(end.counts.applied + end.counts.known == 900 && end.counts.known >= 200)
        }
    }

    @Test("two processes that go on with one replay at the same time count each event once")
    func twice() async throws {
        try await withConsole { world in
            let wanted = try await world.transfers(600)
            let target = MadeUpTarget()
            let replay = try await world.replay(.recent)
            let run = RunReplay(database: world.work, store: world.replays, reads: world.replayReads, targets: target)
            let job = Job(
                id: ids.next(),
                key: replay.id.lowercased,
                subject: nil,
                payload: "{}",
                attempt: 1,
                cause: Cause(),
                leaseUntil: Date(timeIntervalSinceNow: 60),
                owner: ids.next()
            )
            async let first = run(job)
            async let second = run(job)
            _ = try await [first, second]
            let end = try await world.finish(replay, target)
            #expect(end.state == .finished)
            #expect(end.counts.done == 600)
            #expect(Set(target.applied) == Set(wanted) && target.applied.count == 600)
        }
    }

    @Test("one replay per service is under way; it can be cancelled and go on where it stopped; the audit has it all")
    func acts() async throws {
        try await withConsole { world in
            let wanted = try await world.transfers(300)
            let target = MadeUpTarget([.good, .away])
            let replay = try await world.replay(.recent)
            await #expect(throws: ReplayDesk.Refusal.underWay) { try await world.replay(.recent, .dryRun) }
            _ = try await world.replay(.recent, into: .customer)
            #expect(try await world.slice(replay, target) == .again(reason: "target_unavailable", after: nil))
            #expect(try await world.desk.cancel(replay.id, by: .grace).state == .cancelled)
            await #expect(throws: ReplayDesk.Refusal.notRunning) { try await world.desk.cancel(replay.id, by: .grace) }
            #expect(try await world.slice(replay, target) == .done)
            #expect(target.applied == Array(wanted.prefix(200)))
            let other = try await world.replay(.recent, .dryRun)
            await #expect(throws: ReplayDesk.Refusal.underWay) { try await world.desk.resume(replay.id, by: .grace) }
            _ = try await world.desk.cancel(other.id, by: .grace)
            #expect(try await world.desk.resume(replay.id, by: .grace).state == .running)
            #expect(try await world.finish(replay, target).state == .finished)
            #expect(target.applied == wanted)
            await #expect(throws: ReplayDesk.Refusal.finished) { try await world.desk.resume(replay.id, by: .grace) }
            await #expect(throws: ReplayDesk.Refusal.unknown) { try await world.desk.cancel(UUID(), by: .grace) }
            let acts = try await world.database.psql(
                "SELECT actor, act, reason FROM audit_log WHERE subject = '\(replay.id.lowercased)' ORDER BY number"
            )
            #expect(acts == ["started", "cancelled", "resumed"].map { "grace|replay.\($0)|a test" })
        }
    }

    @Test("what a service refuses ends a replay with the reason, and events that took no effect are listed")
    func troubles() async throws {
        try await withConsole { world in
            let wanted = try await world.transfers(5)
            let refusing = try await world.replay(.recent)
            let end = try await world.finish(refusing, MadeUpTarget([.refuses]))
            #expect(end.state == .failed && end.error == "target_refused_400")
            let replay = try await world.replay(.recent)
            let found = [
                FoundChange(kind: "row", body: #"{"kind":"row"}"#), FoundChange(kind: "job", body: #"{"kind":"job"}"#),
            ]
            let target = MadeUpTarget(refusing: [wanted[2]: "subject_parked"], changes: found)
            #expect(
                try await world.finish(replay, target).counts
                    == Replay.Counts(done: 5, applied: 4, refused: 1, differing: 2)
            )
            let problems = try await world.replays.problems(of: replay.id, after: 0, limit: 10, on: world.work)
            #expect(problems.map(\.problem.event) == [wanted[2]])
            #expect(problems.map(\.problem.reason) == ["subject_parked"])
            let jobs = try await world.replays.changes(of: replay.id, kind: "job", after: 0, limit: 10, on: world.work)
            #expect(jobs.map(\.number) == [2])
        }
    }

    @Test("of very many changes and refusals so many are kept, and all are counted")
    func bounded() async throws {
        try await withConsole { world in
            let wanted = try await world.transfers(1100)
            let many = (0..<2000).map { FoundChange(kind: "row", body: #"{"number_of":\#($0)}"#) }
            let target = MadeUpTarget(
                refusing: Dictionary(uniqueKeysWithValues: wanted.map { ($0, "subject_parked") }),
                changes: many
            )
            let end = try await world.finish(try await world.replay(.recent), target)
            #expect(end.counts.refused == 1100)
            #expect(end.counts.differing == 12_000)
            #expect(try await world.number("SELECT count(*) FROM replay_changes") == 10_000)
            #expect(try await world.number("SELECT max(number) FROM replay_changes") == 10_000)
            #expect(try await world.number("SELECT count(*) FROM replay_problems") == 1000)
        }
    }

    @Test("no more events per second are sent than was asked for")
    func rate() async throws {
        try await withConsole { world in
            _ = try await world.transfers(40)
            let target = MadeUpTarget()
            let replay = try await world.replay(.recent, rate: 20)
            let begun = ContinuousClock.now
            _ = try await world.finish(replay, target)
            // 20 at once, and 20 a second later; after those it looks for more another second later.
            #expect(ContinuousClock.now - begun >= .milliseconds(1900))
            #expect(target.batches == 2)
        }
    }
}
