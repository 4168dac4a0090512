import Logging

/// The function files of a set as they are run.
struct FunctionTexts: Sendable {
    let set: SchemaSet
    /// Names and texts of all files: what the hash is made of.
    let whole: String
    let scripts: [FunctionScript]

    /// What makes the functions of `tables.sql`, which triggers, policies, indexes and defaults of the set's tables name:
    /// each migration of the set begins with it.
    var neededByTables: [String] {
        self.scripts.filter { $0.title == "\(self.set.name)/tables.sql" }.flatMap(\.definitions)
    }
}

extension Migrator {
    /// Applies the functions of each set that has changed, all in one transaction.
    ///
    /// - Returns: The names of those sets.
    func applyFunctions(
        _ texts: [FunctionTexts],
        _ connection: PostgresConnection,
        _ logger: Logger?
    ) async throws -> [String] {
        let ledger = FunctionLedger(connection)
        let wanted = try await ledger.wanted(texts)
        let known = try await ledger.known()
        let standings = FunctionStanding.all(of: wanted, known: known, migrated: try await ledger.migrated())
        let newer = standings.filter { $0.state == .newer }.map(\.set)
        if !newer.isEmpty {
            let sets = newer.joined(separator: ", ")
            logger?.notice("functions left: a newer version migrated this database", metadata: ["sets": "\(sets)"])
        }
        let open = Set(standings.filter { $0.state == .missing || $0.state == .outdated }.map(\.set))
        guard !open.isEmpty else { return [] }
        let changes = zip(texts, wanted).filter { open.contains($0.0.set.name) }
        do throws(PostgresError) { try await connection.simple("BEGIN") } catch {
            throw MigrationError(.functionsFailed, "BEGIN", underlying: error)
        }
        // When this fails the session ends, and the server rolls back.
        let signatures = try await self.install(changes.map(\.0), over: known, connection)
        for (text, wanted) in changes {
            try await ledger.record(wanted, signatures[text.set.name] ?? [])
            let count = signatures[text.set.name]?.count ?? 0
            logger?.info("functions applied", metadata: ["set": "\(text.set.name)", "count": "\(count)"])
        }
        try await connection.simple("COMMIT")
        return changes.map(\.0.set.name)
    }

    /// - Returns: The signatures of each set that was installed.
    private func install(
        _ changes: [FunctionTexts],
        over known: [FunctionStanding.Known],
        _ connection: PostgresConnection
    ) async throws(MigrationError) -> [String: [String]] {
        let had = Dictionary(known.map { ($0.set, $0.functions) }) { first, _ in first }
        var now = had
        var installed: [String: [String]] = [:]
        for change in changes {
            let name = change.set.name
            let installer = FunctionInstaller(set: name, scripts: change.scripts, connection: connection)
            let signatures = try await installer.install(over: had[name] ?? [])
            now[name] = signatures
            installed[name] = signatures
        }
        // Only now it is known what has gone and what has moved to another set.
        let owners = Dictionary(grouping: now.flatMap { set, names in names.map { (set, $0) } }, by: \.1)
        for name in installed.keys.sorted() {
            for signature in installed[name] ?? [] where (owners[signature]?.count ?? 0) > 1 {
                throw MigrationError(.duplicateFunction, "\(name): \(signature)")
            }
        }
        for change in changes {
            let gone = (had[change.set.name] ?? []).filter { owners[$0] == nil }
            do throws(PostgresError) { try await FunctionCatalog(connection).drop(gone) } catch {
                let subject = "\(change.set.name), no longer: \(gone.joined(separator: ", "))"
                throw MigrationError(.functionsFailed, subject, underlying: error)
            }
        }
        return installed
    }
}

/// What a database remembers of functions.
struct FunctionLedger {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// The hashes of what this version has.
    func wanted(_ texts: [FunctionTexts]) async throws -> [FunctionStanding.Wanted] {
        var found: [FunctionStanding.Wanted] = []
        for text in texts {
            var hash: String?
            if !text.scripts.isEmpty {
                let sum: SQL = "SELECT encode(sha256(convert_to(\(text.whole)::text, 'UTF8')), 'hex')"
                hash = try await self.connection.query(sum)[0].decode(String.self)
            }
            found.append(FunctionStanding.Wanted(set: text.set.name, newest: text.set.newest, hash: hash))
        }
        return found
    }

    /// The rows of `schema_functions`, if there is such a table.
    func known() async throws -> [FunctionStanding.Known] {
        guard try await self.has("schema_functions") else { return [] }
        return try await self.connection.query(
            "SELECT set_name, sha256, newest_migration, functions FROM schema_functions ORDER BY set_name"
        ).map { row in
            let (set, hash, newest, functions) = try row.decode(String.self, String.self, Int32.self, [String].self)
            return FunctionStanding.Known(set: set, hash: hash, newest: Int(newest), functions: functions)
        }
    }

    /// The number of each set's last migration in the database.
    func migrated() async throws -> [String: Int] {
        guard try await self.has("schema_migrations") else { return [:] }
        let rows = try await self.connection.query(
            "SELECT set_name, max(version) FROM schema_migrations GROUP BY set_name"
        ).map { try $0.decode(String.self, Int32.self) }
        return Dictionary(rows.map { ($0.0, Int($0.1)) }) { first, _ in first }
    }

    /// Writes down what a set has now; a set without functions has no row.
    func record(_ wanted: FunctionStanding.Wanted, _ signatures: [String]) async throws {
        guard let hash = wanted.hash else {
            try await self.connection.execute("DELETE FROM schema_functions WHERE set_name = \(wanted.set)")
            return
        }
        try await self.connection.execute(
            """
            INSERT INTO schema_functions (set_name, sha256, newest_migration, functions)
            VALUES (\(wanted.set), \(hash), \(Int32(wanted.newest)), \(signatures))
            ON CONFLICT (set_name) DO UPDATE SET sha256 = excluded.sha256, applied_at = excluded.applied_at,
                newest_migration = excluded.newest_migration, functions = excluded.functions
            """
        )
    }

    /// The table exists.
    func has(_ table: String) async throws -> Bool {
        try await self.connection.query("SELECT to_regclass(\(table)::text) IS NOT NULL")[0].decode(Bool.self)
    }
}
