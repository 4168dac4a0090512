import Contracts
import Postgres

/// How a service is doing, in one look.
extension MessagingOperations {
    /// Rates are of so many seconds.
    private static let span: Int64 = 10

    /// What waits in outbox, jobs and parked events, and how fast events come and go, as JSON.
    ///
    /// Cheap enough to be asked every few seconds, however long the tables are: it counts what waits, and of events those
    /// whose id is of the last ten seconds.
    public func status() async throws -> String {
        try await self.json(
            """
            WITH recent AS (
                SELECT (lpad(to_hex((extract(epoch FROM transfa_now()) * 1000)::bigint - \(Self.span * 1000)), 12, '0')
                    || repeat('0', 20))::uuid AS id
            ), unsent AS (
                SELECT count(*) AS events, min(time) AS oldest FROM outbox WHERE sent_at IS NULL
            ), published AS (
                SELECT count(*) AS events FROM outbox, recent r WHERE outbox.id >= r.id AND day >= uuid_v7_day(r.id)
            ), handled AS (
                SELECT count(*) AS events, max(microseconds) AS slowest,
                    max(extract(epoch FROM handled_at) * 1000 - ('x' || translate(left(inbox.id::text, 13), '-', ''))::bit(48)::bigint)
                        AS lag
                FROM inbox, recent r WHERE inbox.id >= r.id AND day >= uuid_v7_day(r.id)
            ), queued AS (
                SELECT count(*) AS jobs, min(due_at) AS oldest, count(*) FILTER (WHERE due_at < transfa_now()) AS due
                FROM jobs WHERE state = 'queued'
            )
            SELECT json_build_object('service', \(self.service.rawValue)::text, 'now', transfa_now(),
                'outbox', (SELECT json_build_object('unsent', events, 'oldest_seconds',
                    coalesce(extract(epoch FROM transfa_now() - oldest), 0)) FROM unsent),
                'published_per_second', (SELECT round(events / \(Self.span)::bigint::numeric, 1) FROM published),
                'handled_per_second', (SELECT round(events / \(Self.span)::bigint::numeric, 1) FROM handled),
                'lag_seconds', (SELECT CASE WHEN events > 0 THEN round(greatest(lag, 0) / 1000, 3) END FROM handled),
                'slowest_milliseconds', (SELECT round(slowest / 1000.0, 1) FROM handled),
                'jobs', (SELECT json_build_object('queued', jobs, 'due', due,
                    'oldest_due_seconds', coalesce(greatest(extract(epoch FROM transfa_now() - oldest), 0), 0),
                    'running', (SELECT count(*) FROM jobs WHERE state = 'running'),
                    'failed', (SELECT count(*) FROM jobs WHERE state = 'failed')) FROM queued),
                'parked', json_build_object('subjects', (SELECT count(*) FROM parked_keys),
                    'events', (SELECT count(*) FROM parked_events)))::text
            """
        )
    }
}
