import AMQP
import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("The broker's objects")
struct TopologyTests {
    @Test("the partition of a subject is the first byte of its SHA-256, modulo 16, and stands in the routing key")
    func partition() {
        // SHA-256 of "abc" begins with ba, that of the empty text with e3.
        #expect(Topology.partition(of: "abc") == 0xba % 16)
        #expect(Topology.partition(of: "") == 0xe3 % 16)
        #expect(Topology.routingKey(type: "user.created", subject: "") == "03.user.created")
        #expect(Topology.routingKey(type: "user.created", subject: "abc") == "10.user.created")
    }

    @Test("with several queues each partition of each kind goes to exactly one")
    func queues() {
        let types = EventCatalogue.types(consumedBy: .transaction)
        let queues = Topology.queues(of: .transaction, count: 4)
        #expect(queues.map(\.name) == ["transaction.p0", "transaction.p1", "transaction.p2", "transaction.p3"])
        let bindings = queues.flatMap(\.bindings)
        #expect(bindings.count == 16 * types.count && Set(bindings).count == bindings.count)
        #expect(queues[1].bindings.contains("05.user.created"))
    }

    @Test("a binding that was given up goes when the objects are declared, and no other")
    func formerBindings() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let queue = try #require(Topology.allQueues.first { !$0.formerBindings.isEmpty })
                let stranger = "*.of.a.later.version"
                try await AMQPAdmin.withConnection(broker, logger: quiet) { admin in
                    try await admin.declareExchange(Topology.exchange, kind: .topic)
                    let arguments: [String: AMQPValue] = ["x-single-active-consumer": .bool(true)]
                    try await admin.declareQueue(queue.name, kind: .quorum, arguments: arguments)
                    for key in queue.formerBindings + [stranger] {
                        try await admin.bind(queue: queue.name, exchange: Topology.exchange, routingKey: key)
                    }
                }
                try await kit.withGuardian(broker)
                let bound = try await vhost.bindings(of: queue.name)
                #expect(bound == Set(queue.bindings + [stranger]))
            }
        }
    }

    @Test("policies are set, and one that drifted is set again")
    func policies() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let management = TestManagement(vhost: vhost)
                for definition in [nil, #"{"pattern":"x","definition":{"max-length":1},"apply-to":"queues"}"#] {
                    if let definition {
                        let path = "policies/\(vhost.name)/transfa-queues"
                        try await vhost.management("PUT", path, body: definition)
                    }
                    try await kit.withGuardian(try Broker.configuration(vhost.url), management) {
                        try await Self.awaitPolicies(management)
                    }
                }
            }
        }
    }

    @Test("events need not wait for the node that answers for the policies, and these are set when it does")
    func policiesUnanswered() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let management = TestManagement(vhost: vhost)
                let silent = SilentManagement(behind: management)
                try await kit.withGuardian(broker)
                try await kit.withGuardian(broker, silent) {
                    for policy in BrokerPolicy.all {
                        #expect(try await management.definition(ofPolicy: policy.name) == nil)
                    }
                    silent.answer()
                    try await Self.awaitPolicies(management)
                }
                #expect(silent.unanswered > 0)
            }
        }
    }

    private static func awaitPolicies(_ management: TestManagement) async throws {
        for policy in BrokerPolicy.all {
            try await eventually(policy.name) {
                try await management.definition(ofPolicy: policy.name) == policy.definition
            }
        }
    }

    @Test("a peer's queue deleted under load: relaying stops, the queue is made again, and nothing is lost")
    func queueDeleted() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let users = (0..<10).map { _ in UUID() }
                try await kit.withRelay(broker) {
                    try await kit.credit(users, 0..<100)
                    try await kit.awaitAllSent()
                    try await kit.withConsumer(broker, Till().handlers()) {
                        try await Self.load(kit, users, 100..<3_100) { amount in
                            if amount == 1_100 { try await vhost.deleteQueue(Broker.queue) }
                        }
                        try await eventually("all events", within: .seconds(30)) {
                            try await kit.number("SELECT count(*) FROM inbox") == 3_100
                        }
                    }
                }
                #expect(try await kit.number("SELECT sum(total)::bigint FROM sums") == 3_100 * 3_099 / 2)
            }
        }
    }

    @Test("a queue that another process makes again before this one looks is noticed all the same")
    func queueDeletedWhileAway() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let users = (0..<10).map { _ in UUID() }
                try await kit.withRelay(broker) {
                    try await kit.credit(users, 0..<100)
                    try await kit.awaitAllSent()
                    try await kit.withConsumer(broker, Till().handlers()) {
                        // Guardian, publisher and consumer: what is not listed could not be closed at the right moment.
                        try await eventually("three listed connections") { try await vhost.connections().count == 3 }
                        try await Self.load(kit, users, 100..<2_100) { amount in
                            guard amount == 1_100 else { return }
                            try await vhost.deleteQueue(Broker.queue)
                            try await Self.makeQueue(broker)
                            // The guardian may have looked neither before nor in between.
                            try await vhost.closeConnections()
                        }
                        try await eventually("all events", within: .seconds(30)) {
                            try await kit.number("SELECT count(*) FROM inbox") == 2_100
                        }
                    }
                }
                #expect(try await kit.number("SELECT sum(total)::bigint FROM sums") == 2_100 * 2_099 / 2)
            }
        }
    }

    @Test("what waited in a queue when it was deleted is sent again")
    func backlogDeleted() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await kit.withRelay(broker) {
                    try await kit.credit([UUID(), UUID()], 0..<500)
                    try await kit.awaitAllSent()
                    // As if it had been there for minutes; looks were good since.
                    try await kit.execute("UPDATE outbox SET sent_at = sent_at - interval '5 minutes'")
                    try await vhost.deleteQueue(Broker.queue)
                    try await kit.withConsumer(broker, Till().handlers()) {
                        try await eventually("all events", within: .seconds(30)) {
                            try await kit.number("SELECT count(*) FROM inbox") == 500
                        }
                    }
                }
                #expect(try await kit.number("SELECT sum(total)::bigint FROM sums") == 500 * 499 / 2)
            }
        }
    }

    @Test("an event whose mark is late, and whose queue goes meanwhile, is sent again")
    func lateMark() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await kit.database.psql(Self.stallsMarks)
                try await kit.withRelay(broker) {
                    try await kit.client.withSession { holder in
                        _ = try await holder.query("SELECT pg_advisory_lock(4711)")
                        try await kit.credit([UUID()], 7..<8)
                        try await eventually("a mark that waits") { try await kit.number(Self.waitingMarks) == 1 }
                        try await vhost.deleteQueue(Broker.queue)
                        // Made again after the quarantine, when the guardian would send again.
                        try await eventually("the queue", within: .seconds(20)) {
                            (try? await Broker.length(Broker.queue, broker)) != nil
                        }
                        try await Task.sleep(for: .seconds(2))
                        #expect(try await kit.number(Self.waitingMarks) == 1)
                    }
                    try await kit.withConsumer(broker, Till().handlers()) {
                        try await eventually("the event", within: .seconds(20)) {
                            try await kit.number("SELECT count(*) FROM inbox") == 1
                        }
                    }
                }
                #expect(try await kit.number("SELECT sum(total)::bigint FROM sums") == 7)
            }
        }
    }

    /// Who marks an event sent waits for a lock that the test may hold.
    private static let stallsMarks = """
        CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END';
        CREATE TRIGGER stall BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION stall()
        """
    private static let waitingMarks: SQL = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%mark_sent%'
        """

    @Test("what was lost while nobody looked is sent again when an operator says so, and takes effect once")
    func operatorResends() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await kit.withRelay(broker) {
                    try await kit.credit([UUID(), UUID()], 0..<300)
                    try await kit.awaitAllSent()
                }
                try await vhost.deleteQueue(Broker.queue)
                try await Self.makeQueue(broker)
                try await kit.execute("UPDATE outbox SET sent_at = sent_at - interval '2 hours' WHERE sequence <= 50")
                try await kit.withRelay(broker) {
                    try await kit.withConsumer(broker, Till().handlers()) {
                        for (minutes, count) in [(60, 200), (180, 300)] {
                            let span = Duration.seconds(60 * minutes)
                            #expect(try await kit.operations().resendOutbox(sentWithin: span, by: grace) == count)
                            try await eventually("\(count) events", within: .seconds(30)) {
                                try await kit.number("SELECT count(*) FROM inbox") == count
                            }
                            try await kit.awaitAllSent()
                        }
                    }
                }
                #expect(try await kit.number("SELECT sum(total)::bigint FROM sums") == 300 * 299 / 2)
            }
        }
    }

    /// What the guardian of another process would do after its quarantine.
    private static func makeQueue(_ broker: AMQPConfiguration) async throws {
        try await AMQPAdmin.withConnection(broker, logger: quiet) { admin in
            try await admin.declareQueue(
                Broker.queue,
                kind: .quorum,
                arguments: ["x-single-active-consumer": .bool(true)]
            )
            for binding in Topology.queues(of: .transaction).flatMap(\.bindings) {
                try await admin.bind(queue: Broker.queue, exchange: Topology.exchange, routingKey: binding)
            }
        }
    }

    /// Commits ten events at a time, some hundreds a second.
    private static func load(
        _ kit: Kit,
        _ users: [UUID],
        _ amounts: Range<Int64>,
        _ before: (Int64) async throws -> Void
    ) async throws {
        for amount in stride(from: amounts.lowerBound, to: amounts.upperBound, by: 10) {
            try await before(amount)
            try await kit.credit(users, amount..<amount + 10)
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
