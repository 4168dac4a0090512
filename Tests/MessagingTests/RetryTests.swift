import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

/// `GET /internal/ops/parked`.
private struct ParkedKey: Decodable {
    struct Open: Decodable {
        let decision: UUID
        let `operator`: String
    }

    struct Waiting: Decodable {
        struct Try: Decodable, Equatable {
            let number: Int
            let error: String
            let microseconds: Int64?
        }

        let id: UUID
        let reason: String
        let attempts: Int
        let sequence: Int64?
        let tries: [Try]
    }

    let subject: String
    let waiting: Int
    let retry: Open?
    let events: [Waiting]
}

extension Kit {
    fileprivate func parked(about subject: String? = nil) async throws -> [ParkedKey] {
        let text = try await self.operations().parked(about: subject)
        return try JSONDecoder().decode([ParkedKey].self, from: Data(text.utf8))
    }
}

@Suite("Retries of parked events, at most once per decision")
struct RetryTests {
    @Test("a list of all that is parked shows the first events of each subject, and all of the one that is asked about")
    func short() async throws {
        try await Kit.with { kit in
            let (sick, other) = (UUID(), UUID())
            let till = Till(refusing: [1, 100])
            let processor = kit.processor(till.handlers())
            try await processor.process([try incoming(other, 100)])
            for number in 1...12 { try await processor.process([try incoming(sick, Int64(number))]) }
            let listed = try await kit.parked().first { $0.subject == sick.lowercased }
            #expect(listed?.waiting == 12 && listed?.events.count == 10)
            let asked = try await kit.parked(about: sick.lowercased)
            #expect(asked.map(\.subject) == [sick.lowercased] && asked.first?.events.count == 12)
            #expect(try await kit.parked(about: "nobody").isEmpty)
        }
    }

    @Test("a poison event waits with three later ones; once it can be handled, one retry applies all four in order")
    func poison() async throws {
        try await Kit.with { kit in
            let (sick, well) = (UUID(), UUID())
            let till = Till(refusing: [1])
            let processor = kit.processor(till.handlers())
            try await processor.process([try incoming(sick, 1), try incoming(well, 10)])
            try await processor.process([try incoming(sick, 2), try incoming(well, 11), try incoming(sick, 3)])
            try await processor.process([try incoming(sick, 4)])
            #expect(try await kit.effects(of: well) == [10, 11])
            #expect(try await kit.effects(of: sick) == [])
            let shown = try await kit.parked()
            #expect(shown.map(\.subject) == [sick.lowercased] && shown.map(\.waiting) == [4])
            #expect(shown[0].events.map(\.sequence) == [1, 2, 3, 4])
            #expect(shown[0].events.map(\.tries.count) == [1, 0, 0, 0])

            till.accept(1)
            let (entered, goOn) = (WakeSignal(), WakeSignal())
            let (first, second) = (UUID(), UUID())
            let handlers = till.handlers { amount in
                guard amount == 1 else { return }
                entered.wake()
                await goOn.wait(after: 0, upTo: .seconds(60))
            }
            async let applied = kit.retry(sick, handlers, decision: first)
            await entered.wait(after: 0, upTo: .seconds(60))
            #expect(try await kit.retry(sick, till.handlers(), decision: second) == .refused)
            #expect(try await kit.retry(sick, till.handlers(), decision: first) == .refused)
            let open = try await kit.parked().first?.retry
            #expect(open?.decision == first && open?.operator == "grace")
            goOn.wake()
            let result = try await applied
            #expect(result == .applied(4))
            #expect(try await kit.effects(of: sick) == [1, 2, 3, 4])
            #expect(try await kit.number("SELECT count(*) FROM parked_keys") == 0)
            #expect(try await kit.parked().isEmpty)
            try await processor.process([try incoming(sick, 5)])
            #expect(try await kit.effects(of: sick) == [1, 2, 3, 4, 5])
        }
    }

    @Test("the same decision again changes nothing and has the same answer, whatever is parked since")
    func sameDecision() async throws {
        try await Kit.with { kit in
            let (user, other) = (UUID(), UUID())
            let till = Till(refusing: [1, 3])
            let processor = kit.processor(till.handlers())
            try await processor.process([try incoming(user, 1)])
            let (failed, applied, idle) = (UUID(), UUID(), UUID())
            let answer = ParkedRetry.failedAgain(applied: 0, reason: "HandlerFailure")
            #expect(try await kit.retry(user, till.handlers(), decision: failed) == answer)
            till.accept(1)
            #expect(try await kit.retry(user, till.handlers(), decision: failed) == answer)
            #expect(try await kit.effects(of: user) == [])
            #expect(try await kit.retry(user, till.handlers(), decision: applied) == .applied(1))
            #expect(try await kit.retry(user, till.handlers(), decision: idle) == .nothingParked)

            try await processor.process([try incoming(user, 3), try incoming(other, 3)])
            till.accept(3)
            #expect(try await kit.retry(user, till.handlers(), decision: applied) == .applied(1))
            #expect(try await kit.retry(user, till.handlers(), decision: idle) == .nothingParked)
            #expect(try await kit.retry(other, till.handlers(), decision: applied) == .decisionUsed)
            #expect(try await kit.effects(of: user) == [1])
            #expect(try await kit.retry(user, till.handlers()) == .applied(1))
            // Three decisions about something parked; one about nothing is no act.
            let ordered = try await kit.number("SELECT count(*) FROM audit_log WHERE act = 'parked.retry_ordered'")
            #expect(ordered == 3)
        }
    }

    @Test("a decision that was cut off goes on with what is left and answers for all; another one takes over from it")
    func cutOff() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [1])
            try await kit.processor(till.handlers()).process(try (1...5).map { try incoming(user, $0) })
            till.accept(1)
            let (first, second, third) = (UUID(), UUID(), UUID())
            try await Self.cutOff(at: 3, first, user, kit, till)
            #expect(try await kit.effects(of: user) == [1, 2])
            #expect(try await kit.parked().first?.retry?.decision == first)
            try await Self.cutOff(at: 4, second, user, kit, till)
            try await eventually("the end of the lock") {
                try await kit.retry(user, till.handlers(), decision: second) == .applied(3)
            }
            #expect(try await kit.effects(of: user) == [1, 2, 3, 4, 5])
            #expect(try await kit.retry(user, till.handlers(), decision: first) == .cutOff(applied: 2))
            #expect(try await kit.retry(user, till.handlers(), decision: third) == .nothingParked)
            let outcomes = try await kit.texts("SELECT outcome || ' ' || applied FROM parked_retries ORDER BY begun_at")
            #expect(outcomes == ["cut_off 2", "applied 3", "nothing_parked 0"])
            let ends = try await kit.texts(
                "SELECT act FROM audit_log WHERE subject = \(user.lowercased) ORDER BY number"
            )
            #expect(ends == ["parked.retry_ordered", "parked.retry_ordered", "parked.retried"])
        }
    }

    /// Retries, and is ended in the middle of an event.
    private static func cutOff(
        at amount: Int64,
        _ decision: UUID,
        _ user: UUID,
        _ kit: Kit,
        _ till: Till
    ) async throws {
        let entered = Locked(false)
        let handlers = till.handlers { current in
            guard current == amount else { return }
            entered.withLock { $0 = true }
            try await Task.sleep(for: .seconds(600))
        }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                // Refused while the lock of the one before has not ended.
                while (try? await kit.retry(user, handlers, decision: decision)) == .refused {
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
            try await eventually("the event to be tried", within: .seconds(30)) { entered.withLock { $0 } }
            group.cancelAll()
        }
    }

    @Test("each try is kept with its error and how long it took, the first one and the newest")
    func tries() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [1])
            try await kit.processor(till.handlers()).process([
                try incoming(user, 1), try incoming(user, 2), try incoming(UUID(), 3, version: 9),
            ])
            let failing = till.handlers { _ in throw EventProblem.undecodableData }
            #expect(try await kit.retry(user, failing) == .failedAgain(applied: 0, reason: "undecodable_data"))
            #expect(
                try await kit.retry(user, till.handlers()) == .failedAgain(applied: 0, reason: "HandlerFailure")
            )
            let shown = try await kit.parked()
            let first = try #require(shown.first { $0.subject == user.lowercased }?.events.first)
            #expect(first.tries.map(\.error) == ["HandlerFailure", "undecodable_data", "HandlerFailure"])
            #expect(first.tries.map(\.number) == [1, 2, 3] && first.attempts == 2)
            let took = first.tries.map { $0.microseconds ?? 0 }
            #expect(took.allSatisfy { $0 > 0 })
            // A version that nobody can read was not run.
            let unread = try #require(shown.first { $0.subject != user.lowercased }?.events.first)
            #expect(unread.tries == [.init(number: 1, error: "unknown_version", microseconds: nil)])

            try await kit.execute(
                "SELECT note_try(\(first.id), now(), 5, 'again ' || n) FROM generate_series(4, 120) AS n"
            )
            let kept = try await kit.parked().first { $0.subject == user.lowercased }?.events.first?.tries
            #expect(kept?.count == 50 && kept?.first?.number == 1 && kept?.last?.number == 120)
            till.accept(1)
            #expect(try await kit.retry(user, till.handlers()) == .applied(2))
            #expect(try await kit.number("SELECT count(*) FROM parked_tries") == 1)
        }
    }

    @Test("an event that a retry is applying cannot be discarded under its hands")
    func discardMeanwhile() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [1])
            let bad = try incoming(user, 1)
            try await kit.processor(till.handlers()).process([bad, try incoming(user, 2)])
            till.accept(1)
            let (entered, goOn) = (WakeSignal(), WakeSignal())
            let slow = till.handlers { _ in
                entered.wake()
                await goOn.wait(after: 0, upTo: .seconds(60))
            }
            async let applied = kit.retry(user, slow)
            await entered.wait(after: 0, upTo: .seconds(60))
            async let discarded = kit.operations(till.handlers())
                .discardParked(subject: user.lowercased, event: bad.attributes.id, by: grace)
            try await eventually("the discarding to wait") {
                try await kit.number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0
            }
            goOn.wake()
            let (result, isGone) = (try await applied, try await discarded)
            #expect(result == .applied(2) && !isGone)
            #expect(try await kit.effects(of: user) == [1, 2])
            #expect(try await kit.texts("SELECT DISTINCT outcome FROM inbox") == ["handled"])
        }
    }
}
