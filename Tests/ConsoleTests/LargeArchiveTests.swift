import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

/// How a trace stands in an archive as large as months make it; `TRANSFA_TEST_LONG=1` takes ten million events.
@Suite("A large archive", .serialized)
struct LargeArchiveTests {
    private static let isLong = ProcessInfo.processInfo.environment["TRANSFA_TEST_LONG"] == "1"
    private static let events = isLong ? 10_000_000 : 100_000
    private static let days = 10
    /// Each transaction of the archive has so many events, of two correlations.
    private static let eventsPerTransaction = 4
    private static let neededBytes: Int64 = 30_000_000_000
    private static let limit = Duration.milliseconds(100)

    /// Whether there is room for what the test makes; it always is for a few events.
    private static var hasRoom: Bool {
        guard self.isLong else { return true }
        guard let folder = try? TestServers.shared().directory,
            let facts = try? FileManager.default.attributesOfFileSystem(forPath: folder),
            let free = facts[.systemFreeSize] as? NSNumber
        else { return false }
        return free.int64Value >= self.neededBytes
    }

    @Test(
        "the trace of a transaction among very many events finds all of it and nothing else, in no time",
        .enabled(if: hasRoom, "needs 30 GB of free disk")
    )
    func trace() async throws {
        try await withConsole { world in
            // Without log: what is measured is reading. Indexes are built at once, as partitions are attached.
            for day in 0..<Self.days { try await world.database.psql(Self.fill(day)) }
            try await world.database.psql("ANALYZE archived_events")
            let stored = try await world.database.psql("SELECT count(*) FROM archived_events")
            #expect(stored == ["\(Self.events)"])
            let trace = TraceEvents(reads: world.reads)
            var times: [Duration] = []
            for _ in 0..<40 {
                let number = Int.random(in: 0..<Self.events / Self.eventsPerTransaction)
                let digits = String(number, radix: 16)
                let id = "00000000-0000-7000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
                let key = try #require(TraceKey(id))
                let begun = ContinuousClock.now
                let found = try await trace(key)
                times.append(ContinuousClock.now - begun)
                let types = found.events.map(\.type).sorted()
                let expected = [
                    "external_slot.taken", "provider.transfer_updated", "transaction.completed", "transaction.created",
                ]
                #expect(types == expected && found.isComplete)
            }
            times.sort()
            let (median, slowest) = (times[times.count / 2], times[times.count - 1])
            let text = "a trace among \(Self.events) events: \(median) in the middle, \(slowest) at most\n"
            FileHandle.standardError.write(Data(text.utf8))
            if Self.isLong { #expect(median < Self.limit) }
        }
    }

    /// A day of transactions: created, its slot taken, reported by the provider under another correlation, completed.
    private static func fill(_ day: Int) -> String {
        """
        SET maintenance_work_mem = '256MB';
        DO $$
        DECLARE
            d constant integer := (now()::date - date '1970-01-01') - 3 - \(day);
            t constant text := archive_partition(d);
        BEGIN
            EXECUTE format('CREATE UNLOGGED TABLE %I (LIKE archived_events INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', t);
            EXECUTE format($f$
                INSERT INTO %I (id, position, time, stored_at, sequence, correlation_id, source, type, subject, origin, refs, body)
                SELECT e.id, \(day)::bigint * \(events / days) + e.i, now(), now(), 1, e.correlation::uuid,
                    CASE e.j WHEN 2 THEN 'notification' ELSE 'transaction' END,
                    (ARRAY['transaction.created', 'external_slot.taken', 'provider.transfer_updated',
                        'transaction.completed'])[e.j + 1],
                    CASE e.j WHEN 1 THEN 'user-' || e.k %% 10000 WHEN 2 THEN 'trf-' || e.tx ELSE e.tx END,
                    'stream', CASE e.j WHEN 1 THEN ARRAY[e.tx] WHEN 2 THEN ARRAY['p-' || e.k] END,
                    '{"id":"' || e.id || '","correlationid":"' || e.correlation || '","data":{"pad":"' || repeat('x', 200) || '"}}'
                FROM (
                    SELECT x.*, ('00000000-0000-7000-8000-' || lpad(to_hex(x.k), 12, '0')) AS tx,
                        '00000000-0000-4000-9000-' || lpad(to_hex(2 * x.k + (x.j = 2)::integer), 12, '0') AS correlation,
                        (lpad(to_hex(%s::bigint * 86400000 + 3600000 + x.i), 12, '0') || '7' || lpad(to_hex(x.j), 3, '0')
                            || '8000' || lpad(to_hex(x.i), 12, '0'))::uuid AS id
                    FROM (
                        SELECT i, i %% \(eventsPerTransaction) AS j,
                            (\(day)::bigint * \(events / days) + i) / \(eventsPerTransaction) AS k
                        FROM generate_series(0, \(events / days) - 1) AS i
                    ) x
                ) e $f$, t, d);
            EXECUTE format('ALTER TABLE archived_events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                t, first_id_of_day(d), first_id_of_day(d + 1));
        END $$
        """
    }
}
