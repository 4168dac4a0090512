import AMQP
import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import TestSupport

/// Part e: events relayed from the outbox with confirms, against a C loop that publishes messages of the same form to the
/// same exchange and queues with the same window.
struct RelayBenchmark {
    let settings: Settings
    let repeatNumber: Int

    /// As many unconfirmed messages as the relay's publisher allows itself.
    private static let window = 100
    /// Where the events end up beside the event log.
    private static let queues = ["notification.p0", "transaction.p0"]

    func run() async throws {
        try await Ground.with { ground in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(ground.database.name).messages")
            defer { try? FileManager.default.removeItem(at: file) }
            try self.writeMessages(to: file)
            let runtime = ground.runtime(.account, Self.handlers)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await runtime.run() }
                // The exchange and all queues are there when the first event has left.
                try await self.commit(runtime, 1)
                try await self.awaitEmptyOutbox(ground)
                if self.repeatNumber.isMultiple(of: 2) {
                    try await self.loop(ground, file)
                    try await self.relay(ground, runtime)
                } else {
                    try await self.relay(ground, runtime)
                    try await self.loop(ground, file)
                }
                group.cancelAll()
            }
        }
    }

    private func report(_ name: String, _ rate: Double) throws {
        tell("repeat \(self.repeatNumber): \(name) \(Int(rate)) events/s")
        try Measurement(part: Part.relaying.rawValue, name: name, value: rate, repeat: self.repeatNumber).report()
    }

    /// Queues start empty; a message that waits costs the broker memory.
    private func emptyQueues(_ ground: Ground) async throws {
        for queue in Self.queues {
            try await ground.vhost.management("DELETE", "queues/\(ground.vhost.name)/\(queue)/contents")
        }
    }

    // MARK: Ours

    private static var handlers: EventHandlers {
        var handlers = EventHandlers()
        handlers.ignore(EventCatalogue.types(consumedBy: .account))
        return handlers
    }

    private func commit(_ runtime: MessagingRuntime, _ count: Int) async throws {
        let request = UUID()
        try await runtime.work.transaction(cause: Cause(correlationID: request)) { transaction in
            for number in 0..<count {
                let user = users[number % users.count]
                try await transaction.publish(credit(number, of: user), about: UserID(user))
            }
        }
    }

    private func awaitEmptyOutbox(_ ground: Ground) async throws {
        try await eventually("an empty outbox", within: .seconds(240), every: .milliseconds(100)) {
            // One look at the index of what is not sent.
            try await ground.number("SELECT count(*) FROM (SELECT 1 FROM outbox WHERE sent_at IS NULL LIMIT 1) u") == 0
        }
    }

    /// From the commit of the events to the commit that marks the last one sent.
    private func relay(_ ground: Ground, _ runtime: MessagingRuntime) async throws {
        try await self.emptyQueues(ground)
        try await ground.database.psql("TRUNCATE outbox, event_sequences")
        tell("repeat \(self.repeatNumber): relaying \(self.settings.events) events")
        try await self.commit(runtime, self.settings.events)
        try await self.awaitEmptyOutbox(ground)
        let rows = try await ground.client.query(
            """
            SELECT count(*), extract(epoch FROM max(pg_xact_commit_timestamp(xmin))
                - (SELECT max(pg_xact_commit_timestamp(xmin)) FROM event_sequences))::float8
            FROM outbox
            """
        )
        guard let (count, seconds) = try rows.first?.decode(Int64.self, Double.self), seconds > 0,
            count == self.settings.events
        else {
            throw TestFailure("the outbox does not hold each event once")
        }
        try self.report("relayed", Double(count) / seconds)
    }

    // MARK: The reference

    /// One line per message, its fields apart by tabs.
    private func writeMessages(to file: URL) throws {
        let ids = UUIDv7Source()
        let request = UUID()
        var lines = Data()
        for number in 0..<self.settings.events {
            let user = users[number % users.count]
            let attributes = EventAttributes(
                id: ids.next(),
                source: "account",
                type: WalletCredited.type,
                majorVersion: WalletCredited.majorVersion,
                subject: user.lowercased,
                time: "2026-11-21T00:00:00.000Z",
                sequence: Int64(number / users.count + 1),
                correlationid: request
            )
            let json = String(decoding: try JSONEncoder().encode(credit(number, of: user)), as: UTF8.self)
            let fields = [
                Topology.routingKey(type: attributes.type, subject: attributes.subject), attributes.id.lowercased,
                attributes.type.rawValue, attributes.source, attributes.subject, "\(attributes.sequence)",
                request.lowercased, "1795219200",
                String(decoding: try EventEnvelope.body(attributes, dataJSON: json), as: UTF8.self),
            ]
            lines.append(contentsOf: (fields.joined(separator: "\t") + "\n").utf8)
        }
        try lines.write(to: file)
    }

    private func loop(_ ground: Ground, _ file: URL) async throws {
        try await self.emptyQueues(ground)
        tell("repeat \(self.repeatNumber): the C loop publishes as many")
        let output = try await Command.run(
            self.settings.relayLoop,
            [Topology.exchange, "\(Self.window)", file.path],
            environment: ["RELAY_LOOP_URL": ground.vhost.url],
            within: .seconds(600)
        )
        guard let rate = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)), rate > 0 else {
            throw TestFailure("the C loop said: \(output)")
        }
        try self.report("c_loop", rate)
    }
}
