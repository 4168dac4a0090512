import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Parking")
struct ParkingTests {
    @Test("a handler that fails parks its event, later ones of the subject wait behind it, others go on")
    func failing() async throws {
        try await Kit.with { kit in
            let (sick, well) = (UUID(), UUID())
            let till = Till(refusing: [2])
            let processor = kit.processor(till.handlers())
            try await processor.process([
                try incoming(sick, 1), try incoming(sick, 2), try incoming(well, 10), try incoming(sick, 3),
            ])
            try await processor.process([try incoming(sick, 4), try incoming(well, 11)])
            #expect(try await kit.effects(of: sick) == [1])
            #expect(try await kit.effects(of: well) == [10, 11])
            let reasons = try await kit.texts("SELECT reason FROM parked_events ORDER BY position")
            #expect(reasons == ["HandlerFailure", "behind_parked_event", "behind_parked_event"])

            #expect(
                try await kit.retry(sick, till.handlers()) == .failedAgain(applied: 0, reason: "HandlerFailure")
            )
            #expect(try await kit.number("SELECT max(attempts)::bigint FROM parked_events") == 1)
            till.accept(2)
            #expect(try await kit.retry(sick, till.handlers()) == .applied(3))
            #expect(try await kit.effects(of: sick) == [1, 2, 3, 4])
            #expect(try await kit.number("SELECT count(*) FROM parked_keys") == 0)
            #expect(try await kit.number("SELECT count(*) FROM inbox WHERE outcome = 'handled'") == 6)
            #expect(try await kit.retry(sick, till.handlers()) == .nothingParked)
            try await processor.process([try incoming(sick, 5)])
            #expect(try await kit.effects(of: sick) == [1, 2, 3, 4, 5])
        }
    }

    @Test("a second retry at the same time is refused, and a cancelled one leaves no lock behind")
    func secondRetry() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [1])
            try await kit.processor(till.handlers()).process([try incoming(user, 1), try incoming(user, 2)])
            till.accept(1)
            let entered = WakeSignal()
            let slow = till.handlers { _ in
                entered.wake()
                try await Task.sleep(for: .seconds(600))
            }
            let calls = till.seen.count
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { _ = try? await kit.retry(user, slow) }
                try await eventually("the first retry") { till.seen.count > calls }
                #expect(try await kit.retry(user, till.handlers()) == .refused)
                group.cancelAll()
            }
            try await eventually("the end of the lock") {
                try await kit.retry(user, till.handlers()) == .applied(2)
            }
            #expect(try await kit.effects(of: user) == [1, 2])
        }
    }

    @Test("a discarded event never takes effect, and frees what waits behind it")
    func discard() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [1])
            let bad = try incoming(user, 1)
            try await kit.processor(till.handlers()).process([bad, try incoming(user, 2)])
            let operations = kit.operations(till.handlers())
            #expect(try await operations.discardParked(subject: user.lowercased, event: UUID(), by: grace) == false)
            #expect(try await operations.discardParked(subject: user.lowercased, event: bad.attributes.id, by: grace))
            #expect(try await operations.retryParked(subject: user.lowercased, by: grace).result == .applied(1))
            #expect(try await kit.effects(of: user) == [2])
            #expect(try await kit.texts("SELECT outcome FROM inbox ORDER BY sequence") == ["discarded", "handled"])
            // Delivered once more it is known.
            try await kit.processor(till.handlers()).process([bad])
            #expect(try await kit.number("SELECT count(*) FROM parked_keys") == 0)
            let text = try await operations.parked()
            #expect(text == "[]")
        }
    }

    @Test("events that arrive during a retry are applied after those that waited")
    func arrivalsDuringRetry() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [0])
            let processor = kit.processor(till.handlers())
            try await processor.process(try (0..<50).map { try incoming(user, $0) })
            till.accept(0)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    for amount in 50..<100 { try await processor.process([try incoming(user, Int64(amount))]) }
                }
                try await eventually("nothing parked") {
                    let result = try await kit.retry(user, till.handlers())
                    return result == .nothingParked
                }
            }
            _ = try await kit.retry(user, till.handlers())
            #expect(try await kit.effects(of: user) == Array(0..<100))
        }
    }
}
