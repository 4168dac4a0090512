public import Logging

/// Applies migrations that a database does not have yet, then the functions that have changed.
///
/// Migrators on the same database wait for each other. Each migration is a transaction of its own, together with its
/// row in `schema_migrations`, so a failed one leaves nothing behind. All functions are one transaction, with their
/// rows in `schema_functions`.
public struct Migrator: Sendable {
    /// What a run has done.
    public struct Outcome: Sendable, Hashable {
        /// The migrations that were applied.
        public let migrations: [Migration]
        /// The sets whose functions were applied.
        public let functions: [String]

        /// The database had everything already.
        public var isEmpty: Bool { self.migrations.isEmpty && self.functions.isEmpty }
    }

    let sets: [SchemaSet]
    private let variables: [String: String]
    private let lockTimeout: Duration

    /// Makes a migrator.
    ///
    /// - Parameters:
    ///   - sets: In the order of application: first the migrations of all sets, then the functions of all.
    ///   - variables: The values of `${name}` in the files, for instance role names.
    ///   - lockTimeout: Longest wait for another migrator and for each lock on a table.
    public init(
        sets: [SchemaSet],
        variables: [String: String] = [:],
        lockTimeout: Duration = .seconds(60)
    ) {
        self.sets = sets
        self.variables = variables
        self.lockTimeout = lockTimeout
    }

    /// Applies what is missing or has changed.
    ///
    /// - Returns: What was applied.
    /// - Throws: `MigrationError`, and `PostgresError` when the server cannot be reached.
    @discardableResult
    public func run(url: String, logger: Logger? = nil) async throws -> Outcome {
        let texts = try self.checkedTexts()
        let functions = try self.functionTexts()
        var configuration = try PostgresConfiguration(url: url)
        configuration.applicationName = "transfa-migrator"
        configuration.statementTimeout = .zero
        configuration.settings = ["lock_timeout": "\(self.lockTimeout.milliseconds)"]
        let client = PostgresClient(configuration: configuration, logger: logger ?? Self.quiet)
        return try await client.withSession { connection in
            // The lock goes with the session.
            _ = try await connection.query("SELECT pg_advisory_lock(\(migrationLock))")
            try await connection.simple(schemaTables)
            let applied = try await self.apply(texts, functions, connection, logger)
            let sets = try await self.applyFunctions(functions, connection, logger)
            return Outcome(migrations: applied, functions: sets)
        }
    }

    static let quiet = Logger(label: "migrator") { _ in SwiftLogNoOpLogHandler() }

    // MARK: Before the database is touched

    /// All migrations in their order, with their texts as they are run.
    func checkedTexts() throws(MigrationError) -> [(Migration, String)] {
        let variables = try SchemaVariables(self.variables)
        var texts: [(Migration, String)] = []
        for set in self.sets {
            var numbers: Set<Int> = []
            for migration in set.migrations.sorted(by: { $0.number < $1.number }) {
                guard numbers.insert(migration.number).inserted else {
                    throw MigrationError(.duplicateNumber, migration.title)
                }
                texts.append((migration, try variables.substituted(migration.sql, of: migration.title)))
            }
        }
        return texts
    }

    /// The function files of each set, with their texts as they are run.
    func functionTexts() throws(MigrationError) -> [FunctionTexts] {
        let variables = try SchemaVariables(self.variables)
        var found: [FunctionTexts] = []
        for set in self.sets {
            var scripts: [FunctionScript] = []
            var whole = ""
            for file in set.functions {
                let title = "\(set.name)/\(file.name)"
                let text = try variables.substituted(file.sql, of: title)
                scripts.append(try FunctionScript(title: title, text: text))
                whole += "\(file.name) \(text.utf8.count)\n\(text)"
            }
            found.append(FunctionTexts(set: set, whole: whole, scripts: scripts))
        }
        return found
    }

    // MARK: In the database

    private func apply(
        _ texts: [(Migration, String)],
        _ functions: [FunctionTexts],
        _ connection: PostgresConnection,
        _ logger: Logger?
    ) async throws -> [Migration] {
        var applied: [Migration] = []
        let needed = Dictionary(functions.map { ($0.set.name, $0.neededByTables) }) { first, _ in first }
        for (migration, text) in texts {
            let rows = try await connection.query(
                """
                SELECT encode(sha256(convert_to(\(migration.sql)::text, 'UTF8')), 'hex'),
                       (SELECT sha256 FROM schema_migrations
                         WHERE set_name = \(migration.set) AND version = \(Int32(migration.number))),
                       (SELECT max(version) FROM schema_migrations WHERE set_name = \(migration.set))
                """
            )
            let (hash, known, newest) = try rows[0].decode(String.self, String?.self, Int32?.self)
            if let known {
                guard known == hash else { throw MigrationError(.changed, migration.title) }
                continue
            }
            if let newest, newest > migration.number { throw MigrationError(.outOfOrder, migration.title) }
            try await self.apply(migration, text, hash, needing: needed[migration.set] ?? [], connection)
            logger?.info("migration applied", metadata: ["migration": "\(migration.title)"])
            applied.append(migration)
        }
        return applied
    }

    private func apply(
        _ migration: Migration,
        _ text: String,
        _ hash: String,
        needing functions: [String],
        _ connection: PostgresConnection
    ) async throws(MigrationError) {
        do throws(PostgresError) {
            try await connection.simple("BEGIN")
            try await self.prepare(functions, connection)
            try await connection.simple(text)
            _ = try await connection.execute(
                """
                INSERT INTO schema_migrations (set_name, version, name, sha256)
                VALUES (\(migration.set), \(Int32(migration.number)), \(migration.name), \(hash))
                """
            )
            try await connection.simple("COMMIT")
        } catch {
            // The session ends with this error, and the server rolls back.
            throw MigrationError(.failed, migration.title, underlying: error)
        }
    }
}

extension Migrator {
    /// Makes the functions that tables need, with bodies that may name what the migration makes.
    ///
    /// One that is there and cannot be replaced is replaced with its set, after the migrations.
    fileprivate func prepare(
        _ functions: [String],
        _ connection: PostgresConnection
    ) async throws(PostgresError) {
        guard !functions.isEmpty else { return }
        try await connection.simple("SET LOCAL check_function_bodies = off")
        for function in functions {
            do throws(PostgresError) {
                try await connection.simple("SAVEPOINT needed;\n\(function)\n;RELEASE needed")
            } catch {
                guard [SQLState.invalidFunction, SQLState.wrongObject].contains(error.sqlState) else { throw error }
                try await connection.simple("ROLLBACK TO needed; RELEASE needed")
            }
        }
        try await connection.simple("SET LOCAL check_function_bodies = on")
    }
}

/// "transfa" in bytes; the same for everybody who migrates a database.
private let migrationLock: Int64 = 0x7472_616e_7366_61

private let schemaTables = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        set_name text NOT NULL,
        version integer NOT NULL,
        name text NOT NULL,
        sha256 text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (set_name, version)
    );
    -- The whole set at once: newest_migration is the last one it was applied after, functions are its signatures.
    CREATE TABLE IF NOT EXISTS schema_functions (
        set_name text PRIMARY KEY,
        sha256 text NOT NULL,
        newest_migration integer NOT NULL,
        functions text[] NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
    )
    """
