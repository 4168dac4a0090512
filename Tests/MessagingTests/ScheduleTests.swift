import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("Work by the clock")
struct ScheduleTests {
    @Test("two replicas run a schedule once per interval, and a run that fails is made up for")
    func oncePerInterval() async throws {
        try await Kit.with { kit in
            let failures = Locked(1)
            let schedule = Schedule("interest", every: .milliseconds(500)) { transaction in
                try await transaction.stage(
                    "INSERT INTO effects (amount) SELECT extract(epoch FROM last_run_at) * 1000 FROM schedules"
                )
                let fails = failures.withLock { left in
                    defer { left -= 1 }
                    return left > 0
                }
                if fails { throw HandlerFailure() }
            }
            let scheduler = Scheduler(schedules: [schedule], database: kit.events, logger: quiet)
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<2 { group.addTask { await scheduler.run() } }
                try await eventually("five runs") { try await kit.number("SELECT count(*) FROM effects") >= 5 }
                group.cancelAll()
            }
            let times = try await kit.texts("SELECT amount::text FROM effects ORDER BY amount").compactMap { Int($0) }
            for (earlier, later) in zip(times, times.dropFirst()) { #expect(later - earlier >= 449) }
        }
    }

    @Test("partitions exist a week ahead; old ones are dropped, but not an outbox day with unsent rows")
    func partitions() async throws {
        try await Kit.with { kit in
            try await kit.database.psql("CALL ensure_partitions(current_date - 40, current_date - 38)", as: .owner)
            let old = id(after: .seconds(-39 * 86_400))
            try await kit.execute(
                """
                INSERT INTO outbox (day, id, type, subject, sequence, time, data)
                VALUES (uuid_v7_day(\(old)), \(old), 't', 's', 1, now(), '{}')
                """
            )
            try await kit.execute("UPDATE schedules SET last_run_at = '-infinity'")
            try await self.keepHouse(kit) { try await Self.partitions(before: 30, kit) == ["outbox"] }
            #expect(try await Self.covers("outbox", days: -2...8, kit))
            #expect(try await Self.covers("inbox", days: -2...8, kit))
            #expect(try await kit.number("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 1)

            try await kit.execute("UPDATE outbox SET sent_at = now()")
            try await kit.execute("UPDATE schedules SET last_run_at = '-infinity'")
            try await self.keepHouse(kit) { try await Self.partitions(before: 30, kit) == [] }
        }
    }

    @Test("a clock that is moved finds partitions for its days")
    func movedClock() async throws {
        try await Kit.with { kit in
            try await kit.operations().setClock(offset: .seconds(60 * 86_400))
            #expect(try await Self.covers("outbox", days: 60...67, kit))
            let event = try incoming(UUID(), 1, id: id(after: .seconds(60 * 86_400)))
            try await kit.processor(Till().handlers()).process([event])
            #expect(try await kit.number("SELECT count(*) FROM inbox WHERE outcome = 'handled'") == 1)
        }
    }

    @Test("expired keys and finished jobs go, failed jobs and young ones stay")
    func oldRows() async throws {
        try await Kit.with { kit in
            for (key, state, age) in [("a", "done", 40), ("b", "failed", 40), ("c", "done", 1)] {
                try await kit.execute(
                    """
                    INSERT INTO jobs (id, kind, key, state, due_at, created_at, finished_at)
                    VALUES (\(ids.next()), 'mail', \(key), \(state), now(), now(), now() - \(Int32(age)) * interval '1 day')
                    """
                )
            }
            try await self.keepHouse(kit) {
                try await kit.texts("SELECT key FROM jobs ORDER BY key") == ["b", "c"]
            }
        }
    }

    @Test("what a thousand payments a second leave goes as fast: twenty thousand of each in a run, found by age")
    func manyOldRows() async throws {
        try await Kit.with { kit in
            // In the heap the young ones come first.
            try await kit.execute(
                """
                INSERT INTO jobs (id, kind, key, state, due_at, created_at, finished_at)
                SELECT gen_random_uuid(), 'mail', n::text, 'done', now(), now(),
                    now() - CASE WHEN n <= 60000 THEN interval '1 day' ELSE interval '31 days' END
                FROM generate_series(1, 80001) n
                """
            )
            try await kit.execute(
                """
                INSERT INTO idempotency_keys (user_id, route, key, request_hash, status, body, created_at)
                SELECT gen_random_uuid(), 'POST /mail', n::text, '', 200, '',
                    now() - CASE WHEN n <= 60000 THEN interval '1 day' ELSE interval '31 days' END
                FROM generate_series(1, 80001) n
                """
            )
            // Only an owner may: for anybody else it is a warning, and the server goes on without statistics.
            try await kit.database.psql("ANALYZE jobs, idempotency_keys")
            for (index, statement) in [
                ("jobs_finished", Housekeeping.oldJobs(.init())),
                ("idempotency_keys_age", Housekeeping.oldKeys(.init())),
            ] {
                let plan = try await kit.texts("EXPLAIN \(statement)").joined(separator: "\n")
                #expect(plan.contains(index) && !plan.contains("Seq Scan"), "\(plan)")
            }

            let schedule = try #require(
                Housekeeping.schedules(retention: .init()).first { $0.name == "old_rows" }
            )
            try await kit.events.transaction(cause: Cause()) { try await schedule.run($0) }
            #expect(try await kit.number("SELECT count(*) FROM jobs") == 60_001)
            #expect(try await kit.number("SELECT count(*) FROM idempotency_keys") == 60_001)
        }
    }

    @Test("a heartbeat says until when all is published, which an event that waits in the outbox is not")
    func heartbeat() async throws {
        try await Kit.with { kit in
            let schedule = Schedule.heartbeat(of: .auth) { AuthHeartbeat(at: $0) }
            let told: SQL =
                "SELECT data::json->>'at' FROM outbox WHERE type = 'auth.heartbeat' ORDER BY position DESC LIMIT 1"
            try await kit.events.transaction(cause: Cause()) { try await schedule.run($0) }
            let now = try #require(try await kit.text(told).flatMap { Timestamp.parse($0) })
            #expect(abs(now.timeIntervalSinceNow) < 30)

            let user = UUID()
            try await kit.events.transaction(cause: Cause()) {
                try await $0.publish(credited(user, 1), about: UserID(user))
            }
            try await kit.database.psql(
                """
                UPDATE outbox SET sent_at = now() WHERE type = 'auth.heartbeat';
                UPDATE outbox SET time = '2026-05-15T11:00:00Z' WHERE type = 'wallet.credited'
                """
            )
            try await kit.events.transaction(cause: Cause()) { try await schedule.run($0) }
            #expect(try await kit.text(told) == "2026-05-15T11:00:00.000Z")
        }
    }

    private func keepHouse(_ kit: Kit, until holds: () async throws -> Bool) async throws {
        let scheduler = Scheduler(
            schedules: Housekeeping.schedules(retention: .init()),
            database: kit.events,
            logger: quiet
        )
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await scheduler.run() }
            try await eventually("a kept house", holds)
            group.cancelAll()
        }
    }

    /// The parents of partitions that are older than this many days.
    private static func partitions(before days: Int, _ kit: Kit) async throws -> [String] {
        try await kit.texts(
            """
            SELECT i.inhparent::regclass::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent IN ('outbox'::regclass, 'inbox'::regclass) AND c.relkind = 'r'
                AND right(c.relname, 8) < to_char(current_date - \(Int32(days)), 'YYYYMMDD') ORDER BY 1
            """
        )
    }

    private static func covers(_ table: String, days: ClosedRange<Int>, _ kit: Kit) async throws -> Bool {
        try await kit.number(
            """
            SELECT count(*) FROM generate_series(\(Int32(days.lowerBound)), \(Int32(days.upperBound))) d
            WHERE to_regclass(\(table) || to_char((now() AT TIME ZONE 'UTC')::date + d::int, '_YYYYMMDD')) IS NULL
            """
        ) == 0
    }
}
