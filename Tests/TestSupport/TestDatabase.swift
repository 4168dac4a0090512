public import DevSuite
import Foundation

/// A database with the three roles of a service.
///
/// Made by the same SQL as in production (`deploy/postgres/roles.sql`). Roles and database carry a random suffix, so that tests can run side by side.
public struct TestDatabase: Sendable {
    /// A login role of a service.
    public typealias Role = SuiteDatabase.Role

    /// As a suite has it.
    public let database: SuiteDatabase
    /// Whether the roles go with the database.
    private var hasOwnRoles = true

    /// Makes a database; prefer `withTestDatabase`, which also drops it.
    public static func create(_ service: String = "test", on servers: TestServers? = nil) async throws -> TestDatabase {
        let password = Scratch.shortName() + Scratch.shortName()
        let database = TestDatabase(
            SuiteDatabase(
                service: service,
                suffix: "_" + Scratch.shortName(),
                serverURL: try (servers ?? TestServers.shared()).postgresURL
            ) { _ in password }
        )
        try await database.createOnServer()
        return database
    }

    /// Makes one that begins as a template says; it has the template's roles.
    public static func create(
        from template: DatabaseTemplate,
        on servers: TestServers? = nil
    ) async throws -> TestDatabase {
        let original = try await template.provide(on: try servers ?? TestServers.shared())
        let database = original.named("transfa_\(template.service)_\(Scratch.shortName())")
        let roles = Role.allCases.map(original.roleName).joined(separator: ", ")
        let owner = original.roleName(.owner)
        try await original.onServer(
            "CREATE DATABASE \(database.name) TEMPLATE \(original.name) STRATEGY file_copy OWNER \(owner)",
            "REVOKE ALL ON DATABASE \(database.name) FROM PUBLIC",
            "GRANT CONNECT ON DATABASE \(database.name) TO \(roles)"
        )
        return database
    }

    /// One with roles whose password is known to all processes of the run.
    init(service: String, suffix: String, servers: TestServers) throws {
        let url = try servers.postgresURL
        guard let password = URLComponents(string: url)?.password else { throw TestFailure("\(url) has no password") }
        self.init(SuiteDatabase(service: service, suffix: suffix, serverURL: url) { _ in password })
    }

    /// The same roles, with another database.
    func named(_ name: String) -> TestDatabase {
        var other = TestDatabase(self.database.named(name))
        other.hasOwnRoles = false
        return other
    }

    /// The database of a service that runs elsewhere; only the superuser's URL is good for anything.
    public static func existing(_ service: String, superuserURL: String) -> TestDatabase {
        TestDatabase(SuiteDatabase(service: service, serverURL: superuserURL) { _ in "" })
    }

    private init(_ database: SuiteDatabase) { self.database = database }

    /// Its name on the server.
    public var name: String { self.database.name }

    /// `postgres://` of the superuser to this database, for set-up and for what the roles may not see.
    public var superuserURL: String { self.database.superuserURL }

    /// `postgres://` of the migrations' role (MIGRATION_DATABASE_URL).
    public var ownerURL: String { self.url(.owner) }

    /// `postgres://` of the handlers' role (DATABASE_URL).
    public var handlerURL: String { self.url(.handler) }

    /// `postgres://` of the role of consumers and jobs (WORKER_DATABASE_URL).
    public var workerURL: String { self.url(.worker) }

    /// The name of a role on the server: what `${owner}`, `${handler}` and `${worker}` in a migration stand for.
    public func roleName(_ role: Role) -> String { self.database.roleName(role) }

    /// The three role names by the variable that a migration uses.
    public var migrationVariables: [String: String] {
        Dictionary(uniqueKeysWithValues: Role.allCases.map { ($0.rawValue, self.roleName($0)) })
    }

    /// The URL of a role.
    public func url(_ role: Role) -> String { self.database.url(role) }

    /// Runs SQL with psql, as the superuser or as a role, and returns its rows with columns joined by "|".
    ///
    /// Slow (a process per call): for set-up and checks.
    @discardableResult
    public func psql(_ sql: String, as role: Role? = nil) async throws -> [String] {
        let url = role.map(self.url) ?? self.superuserURL
        let output = try await Command.run("psql", [url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql])
        return output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }

    /// Drops the database, whoever is connected, and its roles if nobody else has them.
    public func drop() async throws {
        try await self.onServer("DROP DATABASE IF EXISTS \(self.name) WITH (FORCE)")
        if self.hasOwnRoles {
            let roles = Role.allCases.map(self.roleName).joined(separator: ", ")
            try await self.onServer("DROP ROLE IF EXISTS \(roles)")
        }
    }

    /// Runs statements one by one, outside of a transaction, as the superuser beside this database.
    @discardableResult
    private func onServer(_ statements: String...) async throws -> String {
        try await Command.run(
            "psql",
            [self.database.serverURL, "-XAtq", "-v", "ON_ERROR_STOP=1"] + statements.flatMap { ["-c", $0] }
        )
    }

    func exists() async throws -> Bool {
        try await !self.onServer("SELECT 1 FROM pg_database WHERE datname = '\(self.name)'").isEmpty
    }

    /// Nobody can connect to it any more, so that it can be copied at any time.
    func becomeTemplate(named name: String) async throws {
        try await self.onServer(
            "ALTER DATABASE \(self.name) WITH ALLOW_CONNECTIONS false IS_TEMPLATE true",
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '\(self.name)'",
            "ALTER DATABASE \(self.name) RENAME TO \(name)"
        )
    }

    func createOnServer() async throws {
        try await Command.run(self.database.creation(script: Repository.path("deploy/postgres/roles.sql")))
    }
}

/// Runs `body` with a database of its own and drops it afterwards (TRANSFA_TEST_KEEP=1 keeps it for a look).
public func withTestDatabase<Result>(
    _ service: String = "test",
    on servers: TestServers? = nil,
    _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    try await withDatabase(try await TestDatabase.create(service, on: servers), body)
}

/// The same with a database that begins as a template says.
public func withTestDatabase<Result>(
    from template: DatabaseTemplate,
    on servers: TestServers? = nil,
    _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    try await withDatabase(try await TestDatabase.create(from: template, on: servers), body)
}

private func withDatabase<Result>(
    _ database: TestDatabase,
    _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    let keep = ProcessInfo.processInfo.environment["TRANSFA_TEST_KEEP"] == "1"
    do {
        let result = try await body(database)
        if !keep {
            try await database.drop()
        }
        return result
    } catch {
        if !keep {
            try? await database.drop()
        }
        throw error
    }
}
