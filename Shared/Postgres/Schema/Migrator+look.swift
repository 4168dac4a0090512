extension Migrator {
    /// What `run` would find, without changing anything.
    ///
    /// - Returns: Every migration and every set of functions, of this migrator or of the database.
    /// - Throws: `MigrationError`, and `PostgresError` when the server cannot be reached.
    public func look(url: String) async throws -> SchemaStanding {
        let wanted = try self.checkedTexts().map(\.0)
        let texts = try self.functionTexts()
        var configuration = try PostgresConfiguration(url: url)
        configuration.applicationName = "transfa-migrator"
        let client = PostgresClient(configuration: configuration, logger: Self.quiet)
        return try await client.withSession { connection in
            let ledger = FunctionLedger(connection)
            return SchemaStanding(
                migrations: try await self.look(for: wanted, ledger, connection),
                functions: FunctionStanding.all(
                    of: try await ledger.wanted(texts),
                    known: try await ledger.known(),
                    migrated: try await ledger.migrated()
                )
            )
        }
    }

    private func look(
        for wanted: [Migration],
        _ ledger: FunctionLedger,
        _ connection: PostgresConnection
    ) async throws -> [MigrationStanding] {
        var known: [MigrationStanding.Known] = []
        if try await ledger.has("schema_migrations") {
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
