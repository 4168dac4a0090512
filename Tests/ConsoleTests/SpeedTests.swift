import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

/// How fast the archive is; `TRANSFA_TEST_LONG=1` takes as many events as operators would.
@Suite("Speed of the archive", .serialized)
struct SpeedTests {
    private static let isLong = ProcessInfo.processInfo.environment["TRANSFA_TEST_LONG"] == "1"
    private static let backlog = isLong ? 200_000 : 20_000
    private static let archived = isLong ? 1_000_000 : 50_000

    @Test("a backlog in the event log is archived at a rate that is printed")
    func draining() async throws {
        try await withLog { log in
            try await log.declare()
            let pad = String(repeating: "x", count: 400)
            for part in 0..<Self.backlog / 10_000 {
                try await log.publish(
                    try (0..<10_000).map { number in
                        try envelope(
                            correlation: ids.next(),
                            causation: ids.next(),
                            data: #"{"number":\#(part * 10_000 + number),"pad":"\#(pad)"}"#
                        )
                    }
                )
            }
            let duration = try await ContinuousClock().measure {
                try await log.following { try await log.await(Self.backlog, within: .seconds(300)) }
            }
            Self.report("archived from the log", Self.backlog, duration)
        }
    }

    @Test("a window of ten days is scanned and decoded at a rate that is printed, each event once, in pages")
    func scanning() async throws {
        try await withConsole { world in
            try await world.database.psql(Self.fill)
            var (decoded, position) = (0, Int64(0))
            let duration = try await ContinuousClock().measure {
                while true {
                    let page = try await world.reads.scan(EventFilter(), after: position, upTo: .max, limit: 5000)
                    guard let last = page.last else { break }
                    for event in page { decoded += Int(try ArchivedEvent(bytes: Array(event.body.utf8)).sequence) }
                    position = last.position
                }
            }
            #expect(decoded == Self.archived)
            Self.report("scanned and decoded", Self.archived, duration)
            let trace = TraceEvents(reads: world.reads)
            let key = try #require(TraceKey("s5"))
            let begun = ContinuousClock.now
            #expect(try await trace(key).events.count == 1)
            Self.say("a trace among them: \(ContinuousClock.now - begun)")
        }
    }

    @Test("a window of ten days is read and decoded for replay at a rate that is printed, each event once")
    func replaying() async throws {
        try await withConsole { world in
            try await world.database.psql(Self.fill)
            let selection = ReplaySelection(
                from: Date(timeIntervalSinceNow: -11 * 86_400),
                types: ["transaction.created", "transaction.completed"]
            )
            var (decoded, place) = (0, ReplayStore.beginning)
            let duration = try await ContinuousClock().measure {
                while true {
                    let page = try await world.replayReads.page(
                        selection,
                        selection.types ?? [],
                        after: place,
                        upTo: .max,
                        limit: 1000
                    )
                    guard let last = page.last else { break }
                    for item in ReplayBatch(page).items {
                        decoded += Int(try EventEnvelope.attributes(in: Data(item.body.utf8)).sequence)
                    }
                    place = last.id
                }
            }
            #expect(decoded == Self.archived)
            Self.report("read and decoded for replay", Self.archived, duration)
        }
    }

    /// Events of the last ten days, made by the database itself.
    private static let fill = """
        DO $$ DECLARE days integer[] := ARRAY(SELECT (now()::date - date '1970-01-01') - generate_series(0, 9));
        BEGIN CALL ensure_archive_days(days); END $$;
        WITH made AS (
            SELECT i, (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - (i % 10) * 86400000), 12, '0') || '7'
                || lpad(to_hex(i % 4096), 3, '0') || '8000' || lpad(to_hex(i), 12, '0'))::uuid AS id
            FROM generate_series(1, \(archived)) AS i
        )
        INSERT INTO archived_events
            (id, position, time, stored_at, sequence, source, type, subject, correlation_id, origin, body)
        SELECT id, i, now(), now(), 1, 'transaction', 'transaction.created', 's' || i, id, 'stream',
            format('{"id":"%s","source":"transaction","type":"transaction.created","subject":"s%s","sequence":1,'
                '"time":"2026-11-21T00:00:00.000Z","dataschema":"transfa:transaction.created:1","correlationid":"%s",'
                '"specversion":"1.0","data":{"amount":5,"pad":"%s"}}', id, i, id, repeat('x', 300))
        FROM made ORDER BY i;
        UPDATE archive_progress SET position = \(archived);
        ANALYZE archived_events;
        """

    private static func report(_ what: String, _ count: Int, _ duration: Duration) {
        let rate = Int(Double(count) / (duration / .seconds(1)))
        self.say("\(what): \(count) events, \(rate)/s")
        // A debug build beside other tests; far below what is promised.
        #expect(rate > 500)
    }

    private static func say(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
