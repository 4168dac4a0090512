import TestSupport

/// How many rows each table has and a sum over them, by database; what changes by itself is left out.
struct TableFingerprints: Equatable, Sendable {
    let tables: [String: [String]]

    /// Rows that come and go without any request, and why.
    private static let restless: [(table: String, rows: String, reason: String)] = [
        ("schedules", "false", "when each schedule ran last"),
        ("source_heartbeats", "false", "when each source was heard last"),
        ("outbox", "type NOT LIKE '%.heartbeat'", "a heartbeat every five seconds"),
        ("inbox", "type NOT LIKE '%.heartbeat'", "a heartbeat of each source every five seconds"),
        ("archived_events", "type NOT LIKE '%.heartbeat'", "a heartbeat of each source every five seconds"),
        ("archive_progress", "false", "how far the event log was read"),
        ("requests", "false", "requests, refused ones too, are recorded for traces"),
        ("bank_health", "false", "how the banks are doing, looked at every half minute"),
        ("risk_alerts", "false", "what stands out, looked for every minute"),
        ("event_sequences", "subject NOT IN ('auth', 'customer', 'subscription')", "heartbeats are numbered"),
    ]

    private static let list = """
        SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
            AND NOT c.relispartition ORDER BY 1
        """

    /// Reads all tables of all services.
    static func read(_ suite: RunningSuite) async throws -> TableFingerprints {
        try await withThrowingTaskGroup(of: (String, [String]).self) { group in
            for (service, database) in suite.environment.databases {
                group.addTask {
                    let tables = try await database.psql(Self.list)
                    guard !tables.isEmpty else { throw TestFailure("\(service) has no tables") }
                    return (service, try await database.psql(tables.map(Self.sum).joined(separator: " UNION ALL ")))
                }
            }
            return TableFingerprints(tables: try await group.reduce(into: [:]) { $0[$1.0] = $1.1 })
        }
    }

    private static func sum(_ table: String) -> String {
        let rows = Self.restless.first { $0.table == table }?.rows ?? "true"
        // Jobs of before run on by themselves; what counts is which there are.
        let columns = table == "jobs" ? "ROW(t.id, t.kind, t.key, t.payload, t.created_at)" : "t"
        return """
            SELECT '\(table)', count(*), coalesce(sum(hashtextextended(\(columns)::text, 0)), 0)
            FROM \(table) t WHERE \(rows)
            """
    }

    /// What differs, for people.
    func differences(from other: TableFingerprints) -> [String] {
        self.tables.flatMap { service, rows in
            Set(rows).symmetricDifference(other.tables[service] ?? []).map { "\(service): \($0)" }
        }.sorted()
    }
}

extension RunningSuite {
    /// Waits until nothing moves, runs `body`, and gives what has changed in the databases.
    func changes(by body: () async throws -> Void) async throws -> [String] {
        let before = try await self.rest()
        try await body()
        return try await TableFingerprints.read(self).differences(from: before)
    }

    /// Waits until the tables have been the same for two seconds, and the newest event of each service is archived: after a
    /// crash whoever reads events begins a little later than the rest.
    private func rest() async throws -> TableFingerprints {
        var last = try await TableFingerprints.read(self)
        var since = ContinuousClock.now
        try await eventually("the databases to rest", within: .seconds(60), every: .milliseconds(500)) {
            let isWhole = try await self.hasArchivedAll()
            let now = try await TableFingerprints.read(self)
            if now != last { (last, since) = (now, .now) }
            return isWhole && ContinuousClock.now - since >= .seconds(2)
        }
        return last
    }

    private func hasArchivedAll() async throws -> Bool {
        var newest: [String] = []
        for database in self.environment.databases.values {
            newest += try await database.psql(
                "SELECT id FROM outbox WHERE type NOT LIKE '%.heartbeat' ORDER BY position DESC LIMIT 1"
            )
        }
        let ids = newest.map { "'\($0)'" }.joined(separator: ", ")
        let archived = try await self.number("SELECT count(*) FROM archived_events WHERE id IN (\(ids))", of: "console")
        return archived == newest.count
    }
}
