import Postgres

/// What operators see of parked events.
extension MessagingOperations {
    /// The most subjects in one answer.
    private static let subjects: Int64 = 1000
    /// The most events of each subject, for when much is parked the list must stay short enough for who reads it.
    private static let eventsOfEach: Int64 = 10
    /// The most events of the only subject that is asked about; `waiting` counts all of them.
    private static let eventsOfOne: Int64 = 200

    /// Parked subjects, or one, the longest parked first, with the events that wait in their order and each try that failed.
    public func parked(about subject: String? = nil) async throws -> String {
        let events = subject == nil ? Self.eventsOfEach : Self.eventsOfOne
        return try await self.json(
            """
            SELECT coalesce(json_agg(k), '[]')::text FROM (
                SELECT p.subject, p.reason, p.parked_at,
                    (SELECT count(*) FROM parked_events e WHERE e.subject = p.subject) AS waiting,
                    (SELECT json_build_object('decision', r.id, 'operator', r.operator, 'begun_at', r.begun_at)
                     FROM parked_retries r WHERE r.subject = p.subject AND r.ended_at IS NULL) AS retry,
                    (SELECT json_agg(json_build_object('id', e.id, 'type', e.type, 'reason', e.reason,
                        'attempts', e.attempts, 'parked_at', e.parked_at, 'sequence', \(Self.sequence),
                        'tries', \(Self.tries)) ORDER BY e.position)
                     FROM (SELECT * FROM parked_events x WHERE x.subject = p.subject
                        ORDER BY x.position LIMIT \(events)) e) AS events
                FROM parked_keys p WHERE \(subject)::text IS NULL OR p.subject = \(subject)
                ORDER BY p.parked_at LIMIT \(Self.subjects)) k
            """
        )
    }

    /// Null for an event from a day that the inbox no longer knows.
    private static let sequence: SQL = """
        (SELECT i.sequence FROM inbox i WHERE i.day = uuid_v7_day(e.id) AND i.id = e.id)
        """

    private static let tries: SQL = """
        (SELECT coalesce(json_agg(json_build_object('number', t.number, 'tried_at', t.tried_at, 'error', t.error,
            'microseconds', t.microseconds) ORDER BY t.number), '[]') FROM parked_tries t WHERE t.event_id = e.id)
        """
}
