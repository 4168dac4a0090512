import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Jobs")
struct JobTests {
    @Test("a key that exists is not enqueued again, whether it waits or is done")
    func uniqueKey() async throws {
        try await Kit.with { kit in
            let done = Locked<[String]>([])
            let definition = JobDefinition("mail") { job in
                done.withLock { $0.append(job.key + job.payload) }
                return .done
            }
            try await Self.enqueue(kit, "a", "a", "b")
            try await Self.running(kit.runner(definition)) {
                try await Self.awaitState("done", 2, kit)
                try await Self.enqueue(kit, "a")
                try await Self.enqueue(kit, "c")
                try await Self.awaitState("done", 3, kit)
            }
            let keys = done.withLock { $0.sorted() }
            #expect(keys == ["a{}", "b{}", "c{}"])
        }
    }

    @Test("many jobs are run in batches, each once, by two runners")
    func batches() async throws {
        try await Kit.with { kit in
            let sizes = Locked<[Int]>([])
            let keys = Locked<[String]>([])
            let definition = JobDefinition("mail", batch: 20, concurrency: 2) { jobs in
                sizes.withLock { $0.append(jobs.count) }
                keys.withLock { $0 += jobs.map(\.key) }
                return jobs.map { _ in .done }
            }
            try await kit.events.transaction(cause: Cause()) { transaction in
                for number in 0..<300 { try await transaction.enqueue("mail", key: "\(number)") }
            }
            try await Self.running(kit.runner(definition), kit.runner(definition)) {
                try await Self.awaitState("done", 300, kit)
            }
            let (most, all) = (sizes.withLock { $0.max() }, keys.withLock { $0 })
            #expect(most == 20)
            #expect(all.count == 300 && Set(all).count == 300)
        }
    }

    @Test("a job that must run again waits longer each time, then is done; one that cannot succeed is failed")
    func backoff() async throws {
        try await Kit.with { kit in
            let starts = Locked<[ContinuousClock.Instant]>([])
            let definition = JobDefinition("mail", firstPause: .milliseconds(200), maximumPause: .seconds(1)) { job in
                if job.key == "hopeless" { return .failed(reason: "no_such_bank") }
                starts.withLock { $0.append(.now) }
                if job.attempt == 1 { throw HandlerFailure() }
                return job.attempt < 4 ? .again(reason: "busy", after: nil) : .done
            }
            try await Self.enqueue(kit, "stubborn", "hopeless")
            try await Self.running(kit.runner(definition)) {
                try await eventually("the first error") {
                    try await kit.text("SELECT last_error FROM jobs WHERE key = 'stubborn'") == "HandlerFailure"
                }
                try await Self.awaitState("done", 1, kit)
            }
            let times = starts.withLock { $0 }
            #expect(times.count == 4)
            // Between half and the whole of 200, 400 and 800 ms.
            for (index, least) in [100, 200, 400].enumerated() {
                #expect(times[index + 1] - times[index] >= .milliseconds(least))
            }
            #expect(
                try await kit.text("SELECT state || ' ' || last_error FROM jobs WHERE key = 'hopeless'")
                    == "failed no_such_bank"
            )
        }
    }

    @Test("one impossible job of a batch stops no other, and waits for its kind's own pause")
    func isolation() async throws {
        try await Kit.with { kit in
            let sizes = Locked<[Int]>([])
            let pause = Duration.seconds(600)
            let definition = JobDefinition("mail", batch: 10, concurrency: 1, firstPause: pause, maximumPause: pause) {
                jobs in
                sizes.withLock { $0.append(jobs.count) }
                try await kit.events.transaction(cause: Cause()) { transaction in
                    for job in jobs {
                        try await transaction.stage("INSERT INTO effects (amount) VALUES (1)")
                        if job.key == "bad" { throw HandlerFailure() }
                    }
                }
                return jobs.map { _ in .done }
            }
            try await Self.enqueue(kit, "a", "bad", "b", "c")
            try await Self.running(kit.runner(definition)) {
                try await Self.awaitState("done", 3, kit)
                // What comes later is run without it.
                try await Self.enqueue(kit, "d")
                try await Self.awaitState("done", 4, kit)
            }
            #expect(sizes.withLock { $0 } == [4, 1, 1, 1, 1, 1])
            #expect(try await kit.number("SELECT count(*) FROM effects") == 4)
            #expect(
                try await kit.text("SELECT state || ' ' || attempts || ' ' || last_error FROM jobs WHERE key = 'bad'")
                    == "queued 1 HandlerFailure"
            )
        }
    }

    @Test("what all jobs of a batch meet is no reason to run them one by one, nor is a lease that is nearly over")
    func noIsolation() async throws {
        let jobs = ["a", "b"].map { key in
            Job(
                id: UUID(),
                key: key,
                subject: nil,
                payload: "{}",
                attempt: 1,
                cause: Cause(),
                leaseUntil: .distantFuture,
                owner: UUID()
            )
        }
        let runs = Locked(0)
        let passing = await JobIsolation.run(jobs, within: .seconds(60)) { _ in
            runs.withLock { $0 += 1 }
            throw CancellationError()
        }
        #expect(runs.withLock { $0 } == 1)
        for outcome in passing {
            guard case .again("CancellationError", let pause?) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
            #expect(pause <= .milliseconds(200))
        }
        let late = await JobIsolation.run(jobs, within: .zero) { _ in
            runs.withLock { $0 += 1 }
            throw HandlerFailure()
        }
        #expect(runs.withLock { $0 } == 2)
        #expect(late == Array(repeating: .again(reason: "not_reached", after: .zero), count: 2))
    }

    @Test("an expired lease passes on, within one process too, and what the first one says then does not count")
    func leaseExpiry() async throws {
        try await Kit.with { kit in
            let first = Locked<Job?>(nil)
            let resumed = WakeSignal()
            let outcome = Locked<String>("")
            let definition = JobDefinition("mail", lease: .milliseconds(200)) { job in
                guard job.attempt == 1 else { return .again(reason: "second", after: .seconds(600)) }
                first.withLock { $0 = job }
                await resumed.wait(after: 0, upTo: .seconds(20))
                do {
                    try await kit.events.transaction(cause: job.cause) { transaction in
                        try await transaction.stage("INSERT INTO effects (amount) VALUES (1)")
                        try await job.finish(in: transaction)
                    }
                } catch is LeaseLost {
                    outcome.withLock { $0 = "lost" }
                }
                return .done
            }
            let housekeeping = Scheduler(
                schedules: Housekeeping.schedules(retention: .init()),
                database: kit.events,
                logger: quiet
            )
            try await Self.enqueue(kit, "a")
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await housekeeping.run() }
                try await Self.running(kit.runner(definition)) {
                    try await eventually("the second run") {
                        try await kit.text("SELECT last_error FROM jobs") == "second"
                    }
                    resumed.wake()
                    try await eventually("the first run's end") { outcome.withLock { $0 } == "lost" }
                }
                group.cancelAll()
            }
            // On a machine that is busy the second lease may expire too, and the job runs once more.
            try await Self.awaitState("queued", 1, kit)
            #expect(try await kit.number("SELECT attempts::bigint FROM jobs") >= 2)
            #expect(try await kit.number("SELECT count(*) FROM effects") == 0)
        }
    }

    @Test("a commit wakes the runner of a kind that has something due, and no other")
    func watch() async throws {
        try await Kit.with { kit in
            let (mail, later, none) = (WakeSignal(), WakeSignal(), WakeSignal())
            let watch = JobWatch(
                database: kit.events,
                committed: kit.committed,
                due: ["mail": mail, "later": later, "none": none],
                logger: quiet
            )
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await watch.run() }
                try await kit.events.transaction(cause: Cause()) { transaction in
                    try await transaction.enqueue("mail", key: "a")
                    try await transaction.enqueue("later", key: "a", after: .seconds(600))
                }
                try await eventually("the wake") { mail.generation > 0 }
                group.cancelAll()
            }
            #expect(later.generation == 0 && none.generation == 0)
        }
    }

    @Test("what a handler finishes in its own transaction is committed with its effects")
    func finish() async throws {
        try await Kit.with { kit in
            let definition = JobDefinition("mail") { job in
                try await kit.events.transaction(cause: job.cause) { transaction in
                    try await transaction.stage("INSERT INTO effects (amount) VALUES (1)")
                    try await job.finish(in: transaction)
                }
                return .done
            }
            try await Self.enqueue(kit, "a")
            try await Self.running(kit.runner(definition)) { try await Self.awaitState("done", 1, kit) }
            #expect(try await kit.number("SELECT count(*) FROM effects") == 1)
        }
    }

    @Test("operators cancel what waits and release what failed; a requeue runs again what is done")
    func operators() async throws {
        try await Kit.with { kit in
            let operations = kit.operations()
            let runs = Locked<[String]>([])
            let definition = JobDefinition("mail") { job in
                runs.withLock { $0.append(job.key) }
                return job.key == "sick" && job.attempt == 1 ? .failed(reason: "no") : .done
            }
            try await kit.events.transaction(cause: Cause()) { transaction in
                try await transaction.enqueue("mail", key: "later", after: .seconds(600))
                try await transaction.enqueue("mail", key: "unwanted", after: .seconds(600))
                try await transaction.enqueue("mail", key: "sick")
            }
            try await Self.running(kit.runner(definition)) {
                try await Self.awaitState("failed", 1, kit)
                #expect(try await operations.cancelJob(try await Self.id("unwanted", kit), by: grace))
                #expect(try await operations.cancelJob(try await Self.id("unwanted", kit), by: grace) == false)
                #expect(try await operations.releaseJob(try await Self.id("later", kit), by: grace))
                #expect(try await operations.releaseJob(try await Self.id("sick", kit), by: grace))
                try await Self.awaitState("done", 2, kit)
                #expect(try await operations.releaseJob(try await Self.id("sick", kit), by: grace) == false)
                try await kit.events.transaction(cause: Cause()) { try await $0.requeue("mail", key: "later") }
                try await eventually("the requeued job") { runs.withLock { $0 }.count == 4 }
                try await Self.awaitState("done", 2, kit)
            }
            #expect(runs.withLock { $0.sorted() } == ["later", "later", "sick", "sick"])
            #expect(try await Self.state("unwanted", kit) == "cancelled")
        }
    }

    // MARK: Steps

    private static func enqueue(_ kit: Kit, _ keys: String...) async throws {
        try await kit.events.transaction(cause: Cause()) { transaction in
            for key in keys { try await transaction.enqueue("mail", key: key) }
        }
    }

    private static func running(_ runners: JobRunner..., body: () async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for runner in runners { group.addTask { await runner.run() } }
            try await body()
            group.cancelAll()
        }
    }

    private static func awaitState(_ state: String, _ count: Int, _ kit: Kit) async throws {
        try await eventually("\(count) jobs \(state)") {
            try await kit.number("SELECT count(*) FROM jobs WHERE state = \(state)") == count
        }
    }

    private static func state(_ key: String, _ kit: Kit) async throws -> String? {
        try await kit.text("SELECT state FROM jobs WHERE key = \(key)")
    }

    private static func id(_ key: String, _ kit: Kit) async throws -> UUID {
        try await #require(kit.client.query("SELECT id FROM jobs WHERE key = \(key)").first).decode(UUID.self)
    }
}
