import Logging
import Postgres
import TestSupport
import Testing

/// A database with the three roles, and what tests of functions do there.
struct FunctionWorld {
    let database: TestDatabase

    static func with(_ body: (FunctionWorld) async throws -> Void) async throws {
        try await withTestDatabase("functions") { try await body(FunctionWorld(database: $0)) }
    }

    /// The set "auth" with files by name, and migrations numbered from 1.
    static func set(
        _ files: [String: String],
        migrations: [String] = [],
        name: String = "auth"
    ) -> SchemaSet {
        SchemaSet(
            name: name,
            migrations: migrations.enumerated().map { index, sql in
                Migration(set: name, number: index + 1, name: "step", sql: sql)
            },
            functions: files.map { FunctionFile(name: $0.key, sql: $0.value) }
        )
    }

    func migrator(_ sets: [SchemaSet]) -> Migrator {
        Migrator(sets: sets, variables: self.database.migrationVariables)
    }

    /// Migrates as the owner, who is no superuser.
    ///
    /// - Returns: The sets whose functions were applied.
    @discardableResult
    func run(_ sets: SchemaSet..., logger: Logger? = nil) async throws -> [String] {
        try await self.migrator(sets).run(url: self.database.ownerURL, logger: logger).functions
    }

    /// The error of a run that must be refused.
    func refusal(_ sets: SchemaSet...) async throws -> MigrationError {
        let migrator = self.migrator(sets)
        let error = await #expect(throws: MigrationError.self) { try await migrator.run(url: self.database.ownerURL) }
        return try #require(error)
    }

    func states(_ sets: SchemaSet...) async throws -> [String] {
        try await self.migrator(sets).look(url: self.database.ownerURL).functions.map { "\($0.set) \($0.state)" }
    }

    /// The texts of the first column.
    func texts(_ sql: SQL, as role: TestDatabase.Role = .owner) async throws -> [String?] {
        var found: [String?] = []
        try await withClient(self.database.url(role)) { client in
            found = try await client.withConnection { try await $0.query(sql) }.map { try $0.decode(String?.self) }
        }
        return found
    }

    /// The functions and procedures of the database.
    func functions() async throws -> [String?] {
        try await self.texts(
            "SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
        )
    }

    /// Whether a role may call a function.
    func may(_ role: TestDatabase.Role, _ function: String) async throws -> Bool {
        let sql: SQL =
            "SELECT has_function_privilege(\(self.database.roleName(role))::text, \(function)::text, 'EXECUTE')::text"
        return try await self.texts(sql) == ["true"]
    }

    /// A function without arguments that returns a text.
    static func saying(_ text: String, name: String = "said") -> String {
        "CREATE OR REPLACE FUNCTION \(name)() RETURNS text LANGUAGE sql AS $$ SELECT '\(text)'::text $$;\n"
    }
}
