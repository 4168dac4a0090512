import Foundation
import Postgres

/// The schedules that every service has.
enum Housekeeping {
    /// Two days back, for events that were made elsewhere; more than a week ahead.
    static let ensurePartitions: SQL = """
        CALL ensure_partitions((transfa_now() AT TIME ZONE 'UTC')::date - 2,
            (transfa_now() AT TIME ZONE 'UTC')::date + 8)
        """

    /// What one run deletes of a table, at most: 2,000 rows a second, which is what a thousand payments leave.
    private static let rowsPerRun: Int32 = 20_000

    static func schedules(retention: MessagingRetention) -> [Schedule] {
        [
            Schedule("partitions", every: .seconds(3600)) { transaction in
                try await transaction.stage(Self.ensurePartitions)
                try await transaction.stage(
                    "CALL drop_partitions((clock_timestamp() AT TIME ZONE 'UTC')::date - \(Int32(retention.eventDays)))"
                )
            },
            Schedule("expired_leases", every: .seconds(2)) { transaction in
                try await transaction.stage(
                    """
                    UPDATE jobs SET state = 'queued', due_at = transfa_now(), last_error = 'lease_expired',
                        lease_owner = NULL, lease_until = NULL,
                        runs = with_run(runs, attempts, started_at, transfa_now(), 'lease_expired', 'lease_expired')
                    WHERE state = 'running' AND lease_until < (SELECT transfa_now())
                    """
                )
            },
            Schedule("old_rows", every: .seconds(10)) { transaction in
                try await transaction.stage(Self.oldJobs(retention))
                try await transaction.stage(
                    """
                    DELETE FROM parked_retries
                    WHERE ended_at < (SELECT transfa_now() - \(Int32(retention.jobDays)) * interval '1 day')
                    """
                )
                try await transaction.stage(Self.oldKeys(retention))
            },
        ]
    }

    // The clock once and not for each row, and the oldest first: that is what the indexes on the age can do. By the place of
    // a row and not by its id, for which a server that knows the size of the table may read all of it.

    static func oldJobs(_ retention: MessagingRetention) -> SQL {
        """
        DELETE FROM jobs WHERE state IN ('done', 'cancelled', 'skipped') AND ctid IN (
            SELECT ctid FROM jobs
            WHERE finished_at < (SELECT transfa_now() - \(Int32(retention.jobDays)) * interval '1 day')
                AND state IN ('done', 'cancelled', 'skipped')
            ORDER BY finished_at LIMIT \(Self.rowsPerRun))
        """
    }

    static func oldKeys(_ retention: MessagingRetention) -> SQL {
        """
        DELETE FROM idempotency_keys WHERE ctid IN (
            SELECT ctid FROM idempotency_keys
            WHERE created_at < (SELECT transfa_now() - \(Int32(retention.keyDays)) * interval '1 day')
            ORDER BY created_at LIMIT \(Self.rowsPerRun))
        """
    }
}

/// How long rows are kept.
public struct MessagingRetention: Sendable {
    /// Days of outbox and inbox.
    public var eventDays: Int
    /// Days of finished jobs.
    public var jobDays: Int
    /// Days of idempotency keys.
    public var keyDays: Int

    /// 30 days of each, unless told otherwise.
    public init(eventDays: Int = 30, jobDays: Int = 30, keyDays: Int = 30) {
        self.eventDays = eventDays
        self.jobDays = jobDays
        self.keyDays = keyDays
    }
}
