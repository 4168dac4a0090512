import AMQP
import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import TestSupport

/// Part d: events taken from a full queue, each with its inbox row and one effect, against pgbench inserting the same rows
/// in transactions of the same size.
struct ConsumeBenchmark {
    let settings: Settings
    let repeatNumber: Int

    private static let queue = "transaction.p0"

    func run() async throws {
        try await Ground.with { ground in
            try await self.declareQueue(ground)
            try await self.fill(ground)
            // Odd repeats begin with ours, even ones end with it; pgbench needs the rows of a first run either way.
            tell("repeat \(self.repeatNumber): consuming \(self.settings.events) events")
            var consumed = try await self.consume(ground)
            try await self.keepRows(ground)
            let batch = max(1, Int(consumed.batch.rounded()))
            if self.repeatNumber.isMultiple(of: 2) {
                try await self.reference(ground, batch)
                try await self.fill(ground)
                tell("repeat \(self.repeatNumber): consuming again, after the reference")
                consumed = try await self.consume(ground)
            } else {
                try await self.reference(ground, batch)
            }
            try self.report("consumed", consumed.rate)
            tell("repeat \(self.repeatNumber): \(Int(consumed.rate)) events/s in batches of \(batch) on average")
        }
    }

    private func report(_ name: String, _ value: Double) throws {
        try Measurement(part: Part.consuming.rawValue, name: name, value: value, repeat: self.repeatNumber).report()
    }

    // MARK: Ours

    private func declareQueue(_ ground: Ground) async throws {
        _ = try await AMQPAdmin.withConnection(ground.broker, logger: quiet) { admin in
            try await admin.declareQueue(
                Self.queue,
                kind: .quorum,
                arguments: ["x-single-active-consumer": .bool(true)]
            )
        }
    }

    /// Puts events into the queue, past the exchange: no other queue takes them.
    private func fill(_ ground: Ground) async throws {
        let ids = UUIDv7Source()
        let publisher = AMQPPublisher(configuration: ground.broker, window: 1_000, logger: quiet)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            for first in stride(from: 0, to: self.settings.events, by: 1_000) {
                let messages = try (first..<min(first + 1_000, self.settings.events)).map { number in
                    AMQPMessage(
                        exchange: "",
                        routingKey: Self.queue,
                        body: Array(try self.envelope(number, id: ids.next())),
                        messageID: "\(number)"
                    )
                }
                guard await publisher.publish(messages).allSatisfy(\.isConfirmed) else {
                    throw TestFailure("the queue could not be filled")
                }
            }
            group.cancelAll()
        }
    }

    private func envelope(_ number: Int, id: UUID) throws -> Data {
        let user = users[number % users.count]
        let attributes = EventAttributes(
            id: id,
            source: "account",
            type: WalletCredited.type,
            majorVersion: WalletCredited.majorVersion,
            subject: user.lowercased,
            time: "2026-11-21T00:00:00.000Z",
            sequence: Int64(number / users.count + 1),
            correlationid: id
        )
        let json = String(decoding: try JSONEncoder().encode(credit(number, of: user)), as: UTF8.self)
        return try EventEnvelope.body(attributes, dataJSON: json)
    }

    private struct Consumed {
        let rate: Double
        let batch: Double
    }

    private func consume(_ ground: Ground) async throws -> Consumed {
        try await ground.database.psql("TRUNCATE inbox, effects")
        try await ground.database.psql("CHECKPOINT")
        let runtime = ground.runtime(.transaction, Self.handlers)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await runtime.run() }
            try await eventually("all events", within: .seconds(240), every: .milliseconds(250)) {
                try await ground.number("SELECT coalesce(max(position), 0) - min(position) + 1 FROM effects")
                    >= self.settings.events
            }
            group.cancelAll()
        }
        return try await self.rate(ground)
    }

    private static var handlers: EventHandlers {
        var handlers = EventHandlers()
        handlers.on(WalletCredited.self) { event, transaction in
            try await transaction.stage(
                "INSERT INTO effects (user_id, amount) VALUES (\(event.data.userID), \(event.data.amount))"
            )
        }
        handlers.ignore(EventCatalogue.types(consumedBy: .transaction))
        return handlers
    }

    /// From the first commit to the last, so that start and connecting do not count; nor do the events of the first.
    private func rate(_ ground: Ground) async throws -> Consumed {
        let rows = try await ground.client.query(
            """
            WITH commits AS (
                SELECT pg_xact_commit_timestamp(xmin) AS at, count(*) AS events FROM inbox GROUP BY xmin
            )
            SELECT count(*), sum(events)::bigint, sum(events) FILTER (WHERE at > (SELECT min(at) FROM commits))::bigint,
                extract(epoch FROM max(at) - min(at))::float8
            FROM commits
            """
        )
        guard
            let (batches, events, later, seconds) = try rows.first?.decode(
                Int64.self,
                Int64.self,
                Int64?.self,
                Double.self
            ),
            let later, seconds > 0, events == self.settings.events
        else {
            throw TestFailure("the inbox does not hold each event once")
        }
        let effects = try await ground.number("SELECT count(*) FROM effects")
        guard effects == self.settings.events else { throw TestFailure("\(effects) effects of \(events) events") }
        return Consumed(rate: Double(later) / seconds, batch: Double(events) / Double(batches))
    }

    // MARK: The reference

    private static let columns =
        "day, id, source, type, subject, sequence, correlation_id, outcome, microseconds, handled_at"

    /// What was inserted, numbered, for pgbench to insert again.
    private func keepRows(_ ground: Ground) async throws {
        try await ground.database.psql(
            """
            CREATE TABLE given AS SELECT row_number() OVER (ORDER BY i.handled_at, i.id) AS n, i.*,
                i.subject::uuid AS user_id, 5::bigint AS amount
            FROM inbox i;
            ALTER TABLE given ADD PRIMARY KEY (n);
            """
        )
    }

    private func reference(_ ground: Ground, _ batch: Int) async throws {
        let transactions = self.settings.events / batch
        // A prepared statement per row, as the handler has one per event.
        let row = """
            INSERT INTO effects (user_id, amount) VALUES (gen_random_uuid(), 5);
            INSERT INTO inbox (\(Self.columns)) VALUES (current_date, gen_random_uuid(), 'account', 'wallet.credited',
            '\(users[0].lowercased)', 5, gen_random_uuid(), 'handled', 5, clock_timestamp());

            """
        try await self.pgbench(
            "pgbench",
            ground,
            transactions * batch,
            (
                ["-M", "prepared", "-t", "\(transactions)"],
                "BEGIN;\n" + String(repeating: row, count: batch) + "COMMIT;\n"
            )
        )
        // Two statements per transaction with the values of all rows in them: what no handler can do, for orientation.
        try await self.pgbench(
            "pgbench_multi_row",
            ground,
            transactions * batch,
            (["-M", "simple", "-t", "1"], try await self.manyRows(ground, transactions, batch))
        )
    }

    /// All transactions, with the rows written out.
    private func manyRows(_ ground: Ground, _ transactions: Int, _ batch: Int) async throws -> String {
        let lines = try await ground.database.psql(
            """
            SELECT 'BEGIN;'
                || ' INSERT INTO effects (user_id, amount) VALUES '
                || string_agg(format('(%L,%s)', user_id, amount), ',' ORDER BY n) || ';'
                || ' INSERT INTO inbox (\(Self.columns)) VALUES '
                || string_agg(format('(%L,%L,%L,%L,%L,%s,%L,%L,%s,%L)', \(Self.columns)), ',' ORDER BY n) || ';'
                || ' COMMIT;'
            FROM given WHERE n <= \(transactions * batch) GROUP BY (n - 1) / \(batch) ORDER BY (n - 1) / \(batch)
            """
        )
        return lines.joined(separator: "\n").replacingOccurrences(of: "; ", with: ";\n") + "\n"
    }

    private func pgbench(
        _ name: String,
        _ ground: Ground,
        _ events: Int,
        _ work: (arguments: [String], script: String)
    ) async throws {
        tell("repeat \(self.repeatNumber): \(name)")
        try await ground.database.psql("TRUNCATE inbox, effects")
        try await ground.database.psql("CHECKPOINT")
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(ground.database.name).sql")
        try Data(work.script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = try await Command.run(
            "pgbench",
            ["-n", "-c", "1"] + work.arguments + ["-f", file.path, ground.database.workerURL],
            within: .seconds(600)
        )
        let latency = output.split(separator: "\n").first { $0.hasPrefix("latency average = ") }
        guard let average = latency?.split(separator: " ")[3], let milliseconds = Double(average) else {
            throw TestFailure("pgbench said nothing about its time")
        }
        guard try await ground.number("SELECT count(*) FROM inbox") == events else {
            throw TestFailure("pgbench did not insert every row")
        }
        let runs = work.arguments.firstIndex(of: "-t").flatMap { Double(work.arguments[$0 + 1]) } ?? 1
        try self.report(name, Double(events) / (milliseconds * runs / 1_000))
    }
}
