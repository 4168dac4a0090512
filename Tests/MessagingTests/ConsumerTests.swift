import AMQP
import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Consuming")
struct ConsumerTests {
    @Test("20,000 deliveries with a tenth repeated, interrupted five times: the projection is exact and in order")
    func exactlyOnce() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await Broker.declareQueue(broker)
                let users = (0..<40).map { _ in UUID() }
                var bodies: [Data] = []
                for number in 0..<18_000 {
                    bodies.append(try envelope(users[number % 40], Int64(number)))
                    // Each ninth comes again later, among others.
                    if number % 9 == 8 { bodies.append(bodies[bodies.count - 1 - (number / 9) % 50]) }
                }
                #expect(bodies.count == 20_000)
                try await Broker.send(bodies, broker)

                let handlers = Till().handlers()
                for interruption in 1...5 {
                    try await kit.withConsumer(broker, handlers) {
                        try await Self.awaitHandled(interruption * 3_000, kit)
                        guard interruption.isMultiple(of: 2) else { return }
                        // The backend goes, the consumer stays and repeats its batch.
                        try await kit.database.psql(
                            """
                            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                            WHERE datname = current_database() AND usename LIKE '%worker%'
                            """
                        )
                        try await Self.awaitHandled(interruption * 3_000 + 500, kit)
                    }
                }
                try await kit.withConsumer(broker, handlers) {
                    try await Self.awaitHandled(18_000, kit)
                    try await eventually("an empty queue") { try await Broker.length(Broker.queue, broker) == 0 }
                }
                for (index, user) in users.enumerated() {
                    #expect(try await kit.effects(of: user) == Array(stride(from: Int64(index), to: 18_000, by: 40)))
                }
                #expect(try await kit.number("SELECT sum(total)::bigint FROM sums") == 18_000 * 17_999 / 2)
                #expect(try await kit.number("SELECT count(*) FROM parked_events") == 0)
            }
        }
    }

    private static func awaitHandled(_ count: Int, _ kit: Kit) async throws {
        try await eventually("\(count) events", within: .seconds(40)) {
            try await kit.number("SELECT count(*) FROM inbox") >= count
        }
    }

    @Test("bytes that are no event go to the dead letters, and so does an event that no column could hold")
    func undecodable() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await Broker.declareQueue(broker)
                let user = UUID()
                try await Broker.send(
                    [
                        try envelope(user, 1), Data("{".utf8), try envelope(user, 2, id: UUID()),
                        try envelope(user, 3, subject: "a\u{0}b"),
                        try envelope(user, 4, subject: String(repeating: "x", count: 3_000)), try envelope(user, 5),
                    ],
                    broker
                )
                try await kit.withConsumer(broker, Till().handlers()) {
                    try await eventually("the dead letters") {
                        try await Broker.length(Topology.deadLetterQueue, broker) == 4
                    }
                }
                #expect(try await kit.effects(of: user) == [1, 5])
            }
        }
    }

    @Test("an event that ends its consumer again and again is parked unrun, and its neighbours are handled")
    func crashing() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await Broker.declareQueue(broker)
                let (good, bad) = (UUID(), UUID())
                try await Broker.send(
                    [try envelope(good, 1), try envelope(bad, 666), try envelope(good, 2)],
                    broker
                )
                let till = Till()
                // Stands for a process that ends: it never comes back from the handler.
                let handlers = till.handlers { amount in
                    if amount == 666 { try await Task.sleep(for: .seconds(600)) }
                }
                for run in 1...5 {
                    try await kit.withConsumer(broker, handlers) {
                        try await eventually("run \(run)") { till.seen.count { $0 == 666 } == run }
                    }
                }
                try await kit.withConsumer(broker, handlers) {
                    try await eventually("the last event") { try await kit.effects(of: good) == [1, 2] }
                    // A note about a run is removed after the effect, and would stay if the consumer ended between them.
                    try await eventually("no note") { try await kit.number("SELECT count(*) FROM lone_runs") == 0 }
                }
                let runs = till.seen.filter { $0 == 666 }.count
                #expect(runs == 5)
                #expect(try await kit.texts("SELECT reason FROM parked_events") == ["crashed"])
            }
        }
    }
}
