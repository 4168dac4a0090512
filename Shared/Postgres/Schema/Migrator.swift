public import Logging

/// Applies migrations that a database does not have yet.
///
/// Migrators on the same database wait for each other. Each migration is a transaction of its own, together with its
/// row in `schema_migrations`, so a failed one leaves nothing behind.
public struct Migrator: Sendable {
    private let migrations: [Migration]
    private let variables: [String: String]
    private let lockTimeout: Duration

    /// Makes a migrator.
    ///
    /// - Parameters:
    ///   - migrations: Of one or several sets; sets are applied in the order of their first migration here.
    ///   - variables: The values of `${name}` in the files, for instance role names.
    ///   - lockTimeout: Longest wait for another migrator and for each lock on a table.
    public init(
        migrations: [Migration],
        variables: [String: String] = [:],
        lockTimeout: Duration = .seconds(60)
    ) {
        self.migrations = migrations
        self.variables = variables
        self.lockTimeout = lockTimeout
    }

    /// Applies what is missing.
    ///
    /// - Returns: What was applied.
    /// - Throws: `MigrationError`, and `PostgresError` when the server cannot be reached.
    @discardableResult
    public func run(url: String, logger: Logger? = nil) async throws -> [Migration] {
        let texts = try self.checkedTexts()
        var configuration = try PostgresConfiguration(url: url)
        configuration.applicationName = "transfa-migrator"
        configuration.statementTimeout = .zero
        configuration.settings = ["lock_timeout": "\(self.lockTimeout.milliseconds)"]
        let client = PostgresClient(configuration: configuration, logger: logger ?? Self.quiet)
        return try await client.withSession { connection in
            // The lock goes with the session.
            _ = try await connection.query("SELECT pg_advisory_lock(\(migrationLock))")
            try await connection.simple(schemaMigrations)
            return try await self.apply(texts, connection, logger)
        }
    }

    /// What `run` would find, without changing anything.
    ///
    /// - Returns: Every migration of this migrator or of the database, with how it stands there.
    /// - Throws: `MigrationError`, and `PostgresError` when the server cannot be reached.
    public func look(url: String) async throws -> [MigrationStanding] {
        let wanted = try self.checkedTexts().map(\.0)
        var configuration = try PostgresConfiguration(url: url)
        configuration.applicationName = "transfa-migrator"
        let client = PostgresClient(configuration: configuration, logger: Self.quiet)
        return try await client.withSession { connection in
            var known: [MigrationStanding.Known] = []
            let table = try await connection.query("SELECT to_regclass('schema_migrations') IS NOT NULL")
            if try table[0].decode(Bool.self) {
                known = try await connection.query(
                    "SELECT set_name, version, name, sha256 FROM schema_migrations ORDER BY applied_at, set_name, version"
                ).map { row in
                    let (set, number, name, hash) = try row.decode(String.self, Int32.self, String.self, String.self)
                    return MigrationStanding.Known(set: set, number: Int(number), name: name, hash: hash)
                }
            }
            var hashes: [String] = []
            for migration in wanted {
                let sum: SQL = "SELECT encode(sha256(convert_to(\(migration.sql)::text, 'UTF8')), 'hex')"
                hashes.append(try await connection.query(sum)[0].decode(String.self))
            }
            return MigrationStanding.all(of: Array(zip(wanted, hashes)), known: known)
        }
    }

    private static let quiet = Logger(label: "migrator") { _ in SwiftLogNoOpLogHandler() }

    // MARK: Before the database is touched

    private func checkedTexts() throws(MigrationError) -> [(Migration, String)] {
        for (name, value) in self.variables where value.contains(where: { "'\"\\;$\0\n".contains($0) }) {
            throw MigrationError(.unsafeVariable, name)
        }
        var numbers: [String: Set<Int>] = [:]
        for migration in self.migrations where !numbers[migration.set, default: []].insert(migration.number).inserted {
            throw MigrationError(.duplicateNumber, migration.title)
        }
        var texts: [(Migration, String)] = []
        for migration in self.ordered { texts.append((migration, try migration.substituted(self.variables))) }
        return texts
    }

    private var ordered: [Migration] {
        var order: [String: Int] = [:]
        for migration in self.migrations where order[migration.set] == nil { order[migration.set] = order.count }
        return self.migrations.sorted {
            (order[$0.set] ?? 0, $0.number) < (order[$1.set] ?? 0, $1.number)
        }
    }

    // MARK: In the database

    private func apply(
        _ texts: [(Migration, String)],
        _ connection: PostgresConnection,
        _ logger: Logger?
    ) async throws -> [Migration] {
        var applied: [Migration] = []
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
            try await self.apply(migration, text, hash, connection)
            logger?.info("migration applied", metadata: ["migration": "\(migration.title)"])
            applied.append(migration)
        }
        return applied
    }

    private func apply(
        _ migration: Migration,
        _ text: String,
        _ hash: String,
        _ connection: PostgresConnection
    ) async throws(MigrationError) {
        do throws(PostgresError) {
            try await connection.simple("BEGIN")
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

/// "transfa" in bytes; the same for everybody who migrates a database.
private let migrationLock: Int64 = 0x7472_616e_7366_61

private let schemaMigrations = """
    CREATE TABLE IF NOT EXISTS schema_migrations (
        set_name text NOT NULL,
        version integer NOT NULL,
        name text NOT NULL,
        sha256 text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (set_name, version)
    )
    """
