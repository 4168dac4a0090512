import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Faults {
    /// What transaction knows may not be all that was said.
    @Suite struct HeldPaymentTests {
        @Test("a payment waits while something that was said about its sender or recipient is parked")
        func waits() async throws {
            let suite = try RunningSuite.current
            let sender = try await suite.person("parked", funding: 10_000)
            let recipient = try await suite.person("parked")
            let other = try await suite.person("other", funding: 10_000)
            let another = try await suite.person("another")
            let newer = [try await suite.sayInNewerVersion(sender), try await suite.sayInNewerVersion(recipient)]
            let held = [
                try await suite.pay(from: sender, to: other, 700), try await suite.pay(from: other, to: recipient, 900),
            ]
            let free = try await suite.pay(from: other, to: another, 100)
            try await suite.await(free, "completed")
            let keys = held.map { "'\($0.lowercased)'" }.joined(separator: ",")
            let waiting = """
                SELECT count(*) FROM jobs JOIN transfers t ON t.id::text = key
                WHERE key IN (\(keys)) AND last_error = 'read_model_stale' AND t.state = 'accepted'
                """
            try await eventually("both to be held", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.number(waiting) == 2
            }
            for id in held { #expect(try await suite.acceptedByProvider(id) == 0) }

            for (person, event) in zip([sender, recipient], newer) { try await suite.discard(event, about: person) }
            for id in held { try await suite.await(id, "completed", within: .seconds(30)) }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a heartbeat of a clock that runs a month ahead does not make a silent source look fresh")
        func fastClock() async throws {
            let suite = try RunningSuite.current
            let at = Timestamp.text(Date().addingTimeInterval(30 * 86_400))
            let event = try await suite.say("customer.heartbeat", #"{"at":"\#(at)"}"#, version: 1, about: "customer")
            let handled = "SELECT count(*) FROM inbox WHERE id = '\(event)'"
            try await eventually("the heartbeat to be heard", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.number(handled) == 1
            }
            // Not simply "not in the future": other tests have moved the clocks by hours.
            let ahead = "SELECT count(*) FROM source_heartbeats WHERE beat_at > transfa_now() + interval '1 day'"
            #expect(try await suite.number(ahead) == 0)
        }
    }
}

extension RunningSuite {
    /// The services that hear of restrictions.
    private static let listeners = EventCatalogue.definition(of: UserRestricted.type)?.consumers.map(\.rawValue) ?? []

    /// Has customer publish an event.
    fileprivate func say(_ type: String, _ data: String, version: Int, about subject: String) async throws -> UUID {
        let event = UUIDv7Source().next()
        try await self.rows(
            "customer",
            """
            WITH counted AS (UPDATE event_sequences SET sequence = sequence + 1 WHERE subject = '\(subject)'
                RETURNING sequence)
            INSERT INTO outbox (day, id, type, version, subject, sequence, time, data)
            SELECT uuid_v7_day('\(event)'), '\(event)', '\(type)', \(version), '\(subject)', sequence,
                clock_timestamp(), '\(data)' FROM counted
            """
        )
        return event
    }

    /// Has customer say something about a person in a version that nobody knows yet, and waits until it is parked.
    fileprivate func sayInNewerVersion(_ person: Person) async throws -> UUID {
        let event = try await self.say("user.restricted", "{}", version: 9, about: person.id.lowercased)
        for service in Self.listeners {
            let parked = "SELECT count(*) FROM parked_events WHERE id = '\(event)'"
            try await eventually("the event to be parked", within: .seconds(20), every: .milliseconds(100)) {
                try await self.number(parked, of: service) == 1
            }
        }
        return event
    }

    /// What an operator does about it.
    fileprivate func discard(_ event: UUID, about person: Person) async throws {
        for service in Self.listeners {
            let ids = #""subject":"\#(person.id.lowercased)","event":"\#(event.lowercased)""#
            let body = #"{\#(ids),"reason":"made up"}"#
            let answer = try await self.operate("POST", service, "/internal/ops/parked/discard", body)
            guard answer.status == 204 else { throw TestFailure("answered \(answer.status) \(answer.text)") }
        }
    }
}
