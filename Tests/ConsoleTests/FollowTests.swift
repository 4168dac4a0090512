import AMQP
import Contracts
import Foundation
import Messaging
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

@Suite("Following the event log", .serialized)
struct FollowTests {
    private static func texts(_ events: [(id: UUID, body: Data)]) -> [String] {
        events.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test("everything is archived once and in order, over many ends in the middle of it and two replicas at once")
    func ends() async throws {
        try await withLog { log in
            try await log.declare()
            let made = try events(6000)
            // Each of them repeated once: relays publish again what was not confirmed.
            let published = made.flatMap { [$0.body, $0.body] }
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await log.publish(published) }
                for part in 1...5 {
                    try await log.following {
                        try await log.awaitTakeOver(part)
                        try await log.await(part * 800)
                    }
                }
                try await log.following {
                    try await log.following {
                        try await log.awaitTakeOver(6)
                        try await log.await(6000)
                    }
                }
            }
            #expect(try await log.console.bodies() == Self.texts(made))
            #expect(try await log.console.number("SELECT count(*) FROM archive_gaps") == 0)
        }
    }

    @Test("it waits for a log that is not declared yet, and goes on over lost connections")
    func late() async throws {
        try await withTestVhost { vhost in
            try await withConsole { console in
                var broker = try AMQPConfiguration(url: vhost.url)
                broker.maximumBackoff = .milliseconds(200)
                let log = LogWorld(console: console, broker: broker)
                let made = try events(300)
                try await log.following {
                    try await log.declare()
                    try await log.publish(made[..<100].map(\.body))
                    try await log.await(100)
                    try await eventually("its connection to be listed", within: .seconds(30)) {
                        try await !vhost.connections().isEmpty
                    }
                    try await vhost.closeConnections()
                    try await log.publish(made[100...].map(\.body))
                    try await log.await(300)
                }
                #expect(try await console.bodies() == Self.texts(made))
                #expect(try await console.number("SELECT count(*) FROM archive_gaps") == 0)
            }
        }
    }

    @Test("a log that was deleted and declared anew is read from its beginning, and outboxes fill what was lost")
    func anew() async throws {
        try await withLog { log in
            try await log.declare()
            let made = try events(500)
            try await log.publish(made[..<100].map(\.body))
            try await log.following { try await log.await(100) }
            // These are lost with the log.
            try await log.publish(made[100..<200].map(\.body))
            try await log.delete()
            try await log.declare()
            try await log.publish(made[200...].map(\.body))
            try await log.following { try await log.await(400) }
            #expect(try await log.console.database.psql("SELECT reason FROM archive_gaps") == ["made_anew"])

            let outcomes = try await log.backfill(MadeUpOutboxes(events: made, pageSize: 60))
            #expect(outcomes.allSatisfy { $0 == .done })
            #expect(Set(try await log.console.bodies()) == Set(Self.texts(made)))
            #expect(try await log.console.number("SELECT count(*) FROM archived_events") == 500)
            #expect(try await log.console.number("SELECT count(*) FROM archived_events WHERE origin = 'outbox'") == 100)
            let gap = "SELECT count(*) FROM archive_gaps WHERE closed_at IS NOT NULL"
            #expect(try await log.console.number(gap) == 1)
        }
    }

    @Test("a log that was truncated before it was read leaves a gap with its numbers, which outboxes fill")
    func truncated() async throws {
        try await withLog { log in
            try await log.declare(segments: 500_000)
            let made = try events(6000, padding: 700)
            try await log.publish(made[..<100].map(\.body))
            try await log.following { try await log.await(100) }
            try await log.publish(made[100...].map(\.body))
            let last = try #require(made.last)
            try await log.following {
                try await eventually("the end of the log", within: .seconds(60)) {
                    try await log.console.reads.event(last.id) != nil
                }
            }
            let stored = try await log.console.number("SELECT count(*) FROM archived_events")
            #expect(stored < 6000, "the broker has kept everything")
            let gaps = try await log.console.database.psql("SELECT reason, first_missing FROM archive_gaps")
            #expect(gaps == ["truncated|100"])
            // The broker has taken some offsets for itself.
            let missing = try await log.console.number("SELECT last_missing - first_missing + 1 FROM archive_gaps")
            #expect((6000 - stored..<6100 - stored).contains(missing))

            let outcomes = try await log.backfill(MadeUpOutboxes(events: made))
            #expect(outcomes.allSatisfy { $0 == .done })
            #expect(try await log.console.number("SELECT count(*) FROM archived_events") == 6000)
            #expect(Set(try await log.console.bodies()) == Set(Self.texts(made)))
        }
    }

    @Test("an archive that begins behind the beginning of the log asks the outboxes for all they have")
    func beganLate() async throws {
        try await withLog { log in
            try await log.declare(segments: 500_000)
            let made = try events(4000, padding: 700)
            try await log.publish(made.map(\.body))
            let last = try #require(made.last)
            try await log.following {
                try await eventually("the end of the log", within: .seconds(60)) {
                    try await log.console.reads.event(last.id) != nil
                }
            }
            let gap = "SELECT reason, first_missing, since < now() - interval '30 days' FROM archive_gaps"
            #expect(try await log.console.database.psql(gap) == ["began_late|0|t"])
            _ = try await log.backfill(MadeUpOutboxes(events: made))
            #expect(try await log.console.number("SELECT count(*) FROM archived_events") == 4000)
        }
    }

    @Test("what is no event is kept aside, in the middle of a stream and as the place where reading goes on")
    func odd() async throws {
        try await withLog { log in
            try await log.declare()
            let made = try events(20)
            try await log.publish(made[..<10].map(\.body) + [Data("odd".utf8)])
            try await log.following {
                try await log.await(10)
                try await eventually("the odd one") { try await log.console.reads.status().streamOffset == 10 }
            }
            try await log.publish(made[10...].map(\.body))
            try await log.following { try await log.await(20) }
            #expect(try await log.console.bodies() == Self.texts(made))
            #expect(try await log.console.reads.status().malformedMessages == 1)
            #expect(try await log.console.number("SELECT count(*) FROM archive_gaps") == 0)
        }
    }

    @Test("an outbox that does not answer is asked again, one without an address leaves the gap open")
    func unreachable() async throws {
        struct Silent: Outboxes {
            func events(of service: ServiceName, after id: UUID) async throws -> OutboxPage {
                throw service == .auth ? OutboxProblem.noAddress : OutboxProblem.unavailable
            }
        }
        try await withConsole { world in
            try await world.work.transaction(cause: Cause()) {
                try await OpenGap(store: world.store)(.asked, nil, since: Date(), in: $0)
            }
            let job = BackfillArchive(
                database: world.work,
                store: world.store,
                days: world.days,
                outboxes: Silent(),
                log: world.log
            )
            let auth = try await world.run(ConsoleJob.backfill, "1/auth") { try await job($0) }
            #expect(auth == .failed(reason: "no_address"))
            let account = try await world.run(ConsoleJob.backfill, "1/account") { try await job($0) }
            #expect(account == .again(reason: "unavailable", after: nil))
            #expect(try await world.number("SELECT count(*) FROM archive_gaps WHERE closed_at IS NULL") == 1)
        }
    }
}
