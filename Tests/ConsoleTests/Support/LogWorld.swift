import AMQP
import Contracts
import EventLoops
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import ConsoleService

/// The event log of one test, without a service that declares it.
struct LogWorld: Sendable {
    let console: ConsoleWorld
    let broker: AMQPConfiguration

    /// Declares the log, with segments so small that some can be lost.
    func declare(segments bytes: Int64? = nil) async throws {
        try await AMQPAdmin.withConnection(self.broker, logger: quiet) { admin in
            var arguments: [String: AMQPValue] = [:]
            if let bytes {
                arguments["x-stream-max-segment-size-bytes"] = .int64(bytes)
                arguments["x-max-length-bytes"] = .int64(2 * bytes)
            }
            try await admin.declareQueue(Topology.eventLog, kind: .stream, arguments: arguments)
        }
    }

    /// Deletes the log.
    func delete() async throws {
        try await AMQPAdmin.withConnection(self.broker, logger: quiet) { admin in
            _ = try await admin.deleteQueue(Topology.eventLog)
        }
    }

    /// Publishes bodies to the log.
    func publish(_ bodies: [Data]) async throws {
        let publisher = AMQPPublisher(configuration: self.broker, window: 500, logger: quiet)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            for start in stride(from: 0, to: bodies.count, by: 5000) {
                let outcomes = await publisher.publish(
                    bodies[start..<min(start + 5000, bodies.count)].map {
                        AMQPMessage(exchange: "", routingKey: Topology.eventLog, body: Array($0), messageID: "m")
                    }
                )
                guard outcomes.allSatisfy(\.isConfirmed) else { throw TestFailure("the broker refused events") }
            }
            group.cancelAll()
        }
    }

    /// A replica that follows the log.
    var follower: FollowEventLog {
        FollowEventLog(
            reader: EventLogReader(configuration: self.broker, name: "test-log", logger: quiet),
            leadership: ArchiveLeadership(database: self.console.work),
            database: self.console.work,
            store: self.console.store,
            entries: self.console.entries,
            log: self.console.log
        )
    }

    /// Follows the log while `body` runs, and ends in the middle of whatever it does then.
    func following(_ body: () async throws -> Void) async throws {
        let follower = self.follower
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await follower.run() }
            try await body()
            group.cancelAll()
        }
    }

    /// Waits until a replica has taken over for at least the so-manieth time.
    ///
    /// Without it a follower may end before it began: the one before it may have stored all that is waited for.
    func awaitTakeOver(_ epoch: Int) async throws {
        try await eventually("replica \(epoch) to take over", within: .seconds(30)) {
            try await self.console.number("SELECT epoch FROM archive_progress") >= epoch
        }
    }

    /// Waits until so many events are stored.
    func await(_ count: Int, within limit: Duration = .seconds(60)) async throws {
        try await eventually("\(count) archived events", within: limit, every: .milliseconds(50)) {
            let rows = try await self.console.work.client.query("SELECT count(*) FROM archived_events")
            guard let found = try rows.first?.decode(Int64.self), found >= count else {
                throw TestFailure("\(try rows.first?.decode(Int64.self) ?? -1)")
            }
            return true
        }
    }

    /// Fills a gap from these outboxes; how the jobs ended.
    func backfill(_ outboxes: MadeUpOutboxes, gap: Int = 1) async throws -> [JobOutcome] {
        let job = BackfillArchive(
            database: self.console.work,
            store: self.console.store,
            days: self.console.days,
            outboxes: outboxes,
            log: self.console.log
        )
        var outcomes: [JobOutcome] = []
        for service in ServiceName.allCases {
            outcomes.append(
                try await self.console.run(ConsoleJob.backfill, "\(gap)/\(service.rawValue)") { try await job($0) }
            )
        }
        return outcomes
    }
}

/// Outboxes that hold what a test says, all of it in that of transaction, in pages of some events.
struct MadeUpOutboxes: Outboxes {
    let events: [(id: UUID, body: Data)]
    var pageSize = 500

    func events(of service: ServiceName, after id: UUID) async throws -> OutboxPage {
        guard service == .transaction else { return OutboxPage(envelopes: [], next: nil) }
        let behind = self.events.filter { $0.id.uuidString > id.uuidString }
        let page = behind.prefix(self.pageSize)
        return OutboxPage(
            envelopes: page.map { Array($0.body) },
            next: behind.count > page.count ? page.last?.id : nil
        )
    }
}

/// Runs `body` with console and an empty broker.
func withLog(_ body: (LogWorld) async throws -> Void) async throws {
    try await withTestVhost { vhost in
        try await withConsole { console in
            var broker = try AMQPConfiguration(url: vhost.url)
            broker.minimumBackoff = .milliseconds(20)
            broker.maximumBackoff = .milliseconds(200)
            try await body(LogWorld(console: console, broker: broker))
        }
    }
}

/// Some events with their ids.
func events(_ count: Int, padding: Int = 0) throws -> [(id: UUID, body: Data)] {
    let pad = String(repeating: "x", count: padding)
    return try (0..<count).map { number in
        let id = ids.next()
        return (id, try envelope(id, sequence: Int64(number), data: #"{"pad":"\#(pad)","number":\#(number)}"#))
    }
}
