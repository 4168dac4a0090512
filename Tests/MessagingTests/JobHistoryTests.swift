import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

/// `GET /internal/ops/jobs/{id}`.
private struct ShownJob: Decodable {
    struct Run: Decodable {
        let attempt: Int
        let outcome: String
        let error: String?
    }

    let id: UUID
    let key: String
    let state: String
    let attempts: Int
    let runs: [Run]?
}

extension Kit {
    fileprivate func id(_ key: String) async throws -> UUID {
        try await #require(self.client.query("SELECT id FROM jobs WHERE key = \(key)").first).decode(UUID.self)
    }

    fileprivate func shown(_ key: String) async throws -> ShownJob {
        let text = try #require(try await self.operations().job(try await self.id(key)))
        return try JSONDecoder().decode(ShownJob.self, from: Data(text.utf8))
    }

    fileprivate func listed(_ filter: JobFilter) async throws -> [String] {
        let text = try await self.operations().jobs(filter, limit: 100)
        return try JSONDecoder().decode([ShownJob].self, from: Data(text.utf8)).map(\.key)
    }

    fileprivate func running(_ definition: JobDefinition, _ body: () async throws -> Void) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.runner(definition).run() }
            try await body()
            group.cancelAll()
        }
    }

    fileprivate func awaitState(_ key: String, _ state: String) async throws {
        try await eventually("\(key) to be \(state)") {
            try await self.text("SELECT state FROM jobs WHERE key = \(key)") == state
        }
    }
}

@Suite("What operators see of jobs and do about them")
struct JobHistoryTests {
    @Test("a job shows each run that did not end it well: when, how and why")
    func history() async throws {
        try await Kit.with { kit in
            let definition = JobDefinition("mail", firstPause: .milliseconds(1), maximumPause: .milliseconds(2)) {
                job in
                switch (job.key, job.attempt) {
                case ("smooth", _): return .done
                case (_, 1): throw HandlerFailure()
                case (_, 2): return .again(reason: "busy", after: .milliseconds(1))
                case (_, 3): return .failed(reason: "no_such_bank")
                default: return .done
                }
            }
            try await kit.events.transaction(cause: Cause()) { transaction in
                try await transaction.enqueue("mail", key: "smooth")
                try await transaction.enqueue("mail", key: "rough")
            }
            try await kit.running(definition) {
                try await kit.awaitState("rough", "failed")
                try await kit.awaitState("smooth", "done")
                let rough = try await kit.shown("rough")
                #expect(rough.runs?.map(\.outcome) == ["again", "again", "failed"])
                #expect(rough.runs?.map(\.error) == ["HandlerFailure", "busy", "no_such_bank"])
                #expect(rough.runs?.map(\.attempt) == [1, 2, 3] && rough.state == "failed")
                #expect(try await kit.operations().retryJob(rough.id, by: grace))
                try await kit.awaitState("rough", "done")
            }
            #expect(try await kit.shown("rough").runs?.count == 3)
            let smooth = try await kit.shown("smooth")
            #expect(smooth.attempts == 1 && smooth.runs?.isEmpty == true)
            let timed = try await kit.number("SELECT count(*) FROM jobs WHERE started_at <= finished_at")
            #expect(timed == 2)
            #expect(try await kit.operations().job(UUID()) == nil)
            let acts = try await kit.texts("SELECT act FROM audit_log")
            #expect(acts == ["job.retried"])
        }
    }

    @Test("of very many runs the newest twenty are kept")
    func bounded() async throws {
        try await Kit.with { kit in
            let definition = JobDefinition("mail") { job in
                job.attempt <= 25 ? .again(reason: "busy", after: .zero) : .done
            }
            try await kit.events.transaction(cause: Cause()) { try await $0.enqueue("mail", key: "stubborn") }
            try await kit.running(definition) { try await kit.awaitState("stubborn", "done") }
            let runs = try await kit.shown("stubborn").runs
            #expect(runs?.map(\.attempt) == Array(6...25))
        }
    }

    @Test(
        "delayed jobs are listed by when they are due, and run at once when released; a cancelled one runs when retried"
    )
    func delayed() async throws {
        try await Kit.with { kit in
            let done = Locked<[String]>([])
            let definition = JobDefinition("mail") { job in
                done.withLock { $0.append(job.key) }
                return .done
            }
            try await kit.events.transaction(cause: Cause()) { transaction in
                try await transaction.enqueue("mail", key: "now", subject: "a")
                try await transaction.enqueue("mail", key: "much_later", subject: "a", after: .seconds(7200))
                try await transaction.enqueue("mail", key: "later", subject: "b", after: .seconds(3600))
                try await transaction.enqueue("call", key: "other", after: .seconds(60))
            }
            #expect(try await kit.listed(JobFilter(isDelayed: true)) == ["other", "later", "much_later"])
            #expect(try await kit.listed(JobFilter(kind: "mail", isDelayed: true)) == ["later", "much_later"])
            let about = try await kit.listed(JobFilter(state: "queued", subject: "a"))
            #expect(Set(about) == ["now", "much_later"])

            let operations = kit.operations()
            try await kit.running(definition) {
                try await kit.awaitState("now", "done")
                #expect(try await operations.releaseJob(try await kit.id("later"), by: grace))
                try await kit.awaitState("later", "done")
                let unwanted = try await kit.id("much_later")
                #expect(try await operations.retryJob(unwanted, by: grace) == false)
                #expect(try await operations.cancelJob(unwanted, by: grace))
                #expect(try await operations.retryJob(unwanted, by: grace))
                try await kit.awaitState("much_later", "done")
            }
            let keys = done.withLock { $0 }
            #expect(keys == ["now", "later", "much_later"])
            #expect(try await kit.listed(JobFilter(isDelayed: true)) == ["other"])
        }
    }
}
