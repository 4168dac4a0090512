import AMQP
import Contracts
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Relaying")
struct RelayTests {
    @Test("what was committed arrives in order per subject, with headers, and is marked")
    func publishes() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let users = (0..<20).map { _ in UUID() }
                let arrivals = Arrivals()
                try await kit.credit(users, 0..<1_500)
                try await kit.withRelay(broker) {
                    try await kit.awaitAllSent()
                    try await kit.credit(users, 1_500..<2_000)
                    try await kit.awaitAllSent()
                    try await arrivals.collect(broker) {
                        try await eventually("all events") { arrivals.distinct == 2_000 }
                    }
                }
                #expect(arrivals.all.count == 2_000)
                for user in users { #expect(arrivals.sequences[user.lowercased] == Array(1...100)) }
                #expect(arrivals.all.first?.source == "account")
            }
        }
    }

    @Test("one of two replicas relays, and the other takes over when its connection ends")
    func failOver() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let user = UUID()
                let arrivals = Arrivals()
                try await kit.withRelay(broker) {
                    try await kit.withRelay(broker) {
                        try await kit.credit([user], 0..<200)
                        try await kit.awaitAllSent()
                        let leaders = Self.leaders
                        let first = try await kit.number(leaders)
                        #expect(try await kit.number("SELECT count(*) FROM pg_locks WHERE \(Self.isRelayLock)") == 1)
                        try await kit.database.psql("SELECT pg_terminate_backend(\(first))")
                        try await kit.credit([user], 200..<400)
                        try await kit.awaitAllSent()
                        #expect(try await kit.number(leaders) != first)
                    }
                    try await kit.credit([user], 400..<600)
                    try await kit.awaitAllSent()
                    try await arrivals.collect(broker) {
                        try await eventually("all events") { arrivals.distinct == 600 }
                    }
                }
                #expect(arrivals.sequences[user.lowercased] == Array(1...600))
            }
        }
    }

    private static let isRelayLock: SQL = """
        locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    private static let leaders: SQL = "SELECT pid::bigint FROM pg_locks WHERE \(Self.isRelayLock)"

    @Test("an error of the leader leaves no lock behind")
    func lockEndsWithError() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let user = UUID()
                // The relay meets a statement that fails while its connection stays good.
                try await kit.database.psql("ALTER TABLE outbox RENAME COLUMN traceparent TO hidden")
                try await kit.withRelay(broker) {
                    var leaders: Set<Int> = []
                    try await eventually("a second leader") {
                        leaders.insert(try await kit.number(Self.leaders))
                        return leaders.subtracting([0]).count > 1
                    }
                    try await kit.database.psql("ALTER TABLE outbox RENAME COLUMN hidden TO traceparent")
                    try await kit.credit([user], 0..<10)
                    try await kit.awaitAllSent()
                }
                #expect(try await Broker.length(Broker.queue, broker) == 10)
            }
        }
    }

    @Test("what the broker rejects is sent again, in order, over another connection")
    func rejected() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let user = UUID()
                let connections = Connections()
                let policy = "policies/\(vhost.name)/full"
                let limit = #"{"max-length":10,"overflow":"reject-publish"}"#
                try await kit.withRelay(broker, logger: connections.logger) {
                    try await kit.credit([user], 0..<1)
                    try await kit.awaitAllSent()
                    try await vhost.management(
                        "PUT",
                        policy,
                        body: #"{"pattern":"^transaction","definition":\#(limit),"apply-to":"queues"}"#
                    )
                    // How much more a queue takes when it is full is the broker's affair: it says so late.
                    try await eventually("a rejection and another connection") {
                        try await kit.credit([user], 1..<50)
                        return connections.count > 1
                    }
                    try await vhost.management("DELETE", policy)
                    try await kit.awaitAllSent()
                }
                let count = try await kit.number("SELECT count(*) FROM outbox")
                let arrivals = Arrivals()
                try await arrivals.collect(broker) {
                    try await eventually("all events") { arrivals.distinct == count }
                }
                #expect(arrivals.sequences[user.lowercased] == Array(1...Int64(count)))
            }
        }
    }

    @Test("published and not marked: it is published twice, and takes effect once")
    func publishedTwice() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                let user = UUID()
                try await kit.withRelay(broker) {
                    try await kit.credit([user], 0..<50)
                    try await kit.awaitAllSent()
                    // What a process leaves behind that ends between the confirm and the mark.
                    try await kit.execute("UPDATE outbox SET sent_at = NULL WHERE sequence > 20")
                    try await kit.awaitAllSent()
                }
                #expect(try await Broker.length(Broker.queue, broker) == 80)
                try await kit.withConsumer(broker, Till().handlers()) {
                    try await eventually("an empty queue") {
                        let handled = try await kit.number("SELECT count(*) FROM inbox")
                        return try await Broker.length(Broker.queue, broker) == 0 && handled == 50
                    }
                }
                #expect(try await kit.effects(of: user) == Array(0..<50))
            }
        }
    }

    @Test("a restart of the broker in the middle loses nothing, changes no order and ends nothing")
    func brokerRestart() async throws {
        try await withPrivateServers([.rabbitmq]) { servers in
            try await Kit.with { kit in
                let broker = try Broker.configuration(try servers.rabbitmqURL)
                let users = (0..<5).map { _ in UUID() }
                let arrivals = Arrivals()
                try await kit.withRelay(broker) {
                    try await kit.credit(users, 0..<500)
                    try await kit.awaitAllSent()
                    try await kit.credit(users, 500..<6_000)
                    try await eventually("a relay in the middle") {
                        try await kit.number("SELECT count(*) FROM outbox WHERE sent_at IS NOT NULL") > 1_000
                    }
                    try await servers.control.stop(.rabbitmq)
                    try await kit.credit(users, 6_000..<6_500)
                    try await servers.control.start(.rabbitmq)
                    try await kit.awaitAllSent(within: .seconds(60))
                    try await arrivals.collect(broker) {
                        try await eventually("all events", within: .seconds(30)) { arrivals.distinct == 6_500 }
                    }
                }
                for user in users { #expect(arrivals.sequences[user.lowercased] == Array(1...1_300)) }
            }
        }
    }
}
