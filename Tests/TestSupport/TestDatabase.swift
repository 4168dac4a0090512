import Foundation

/// A database with the three roles of a service.
///
/// Made by the same SQL as in production (`deploy/postgres/roles.sql`). Roles and database carry a random suffix, so that tests can run side by side.
public struct TestDatabase: Sendable {
    /// A login role of a service.
    public enum Role: String, Sendable, CaseIterable {
        /// Runs migrations.
        case owner
        /// Serves HTTP, under row level security.
        case handler
        /// Runs consumers and jobs.
        case worker
    }

    /// Its name on the server.
    public let name: String
    /// `postgres://` of the superuser to this database, for set-up and for what the roles may not see.
    public let superuserURL: String
    /// What comes after the name of a role.
    private let suffix: String
    private let service: String
    private let password: String
    /// `postgres://` of the superuser to the database `postgres`.
    private let serverURL: String

    /// Makes a database; prefer `withTestDatabase`, which also drops it.
    public static func create(_ service: String = "test", on servers: TestServers? = nil) async throws -> TestDatabase {
        let database = TestDatabase(
            service: service,
            suffix: "_" + Scratch.shortName(),
            serverURL: try (servers ?? TestServers.shared()).postgresURL
        )
        try await database.createOnServer()
        return database
    }

    /// The database of a service that runs elsewhere; only the superuser's URL is good for anything.
    public static func existing(_ service: String, superuserURL: String) -> TestDatabase {
        TestDatabase(service: service, suffix: "", serverURL: superuserURL)
    }

    private init(service: String, suffix: String, serverURL: String) {
        self.service = service
        self.suffix = suffix
        self.password = Scratch.shortName() + Scratch.shortName()
        self.name = "transfa_\(service)\(suffix)"
        self.serverURL = serverURL
        self.superuserURL = Self.url(serverURL, database: self.name)
    }

    /// `postgres://` of the migrations' role (MIGRATION_DATABASE_URL).
    public var ownerURL: String { self.url(.owner) }

    /// `postgres://` of the handlers' role (DATABASE_URL).
    public var handlerURL: String { self.url(.handler) }

    /// `postgres://` of the role of consumers and jobs (WORKER_DATABASE_URL).
    public var workerURL: String { self.url(.worker) }

    /// The name of a role on the server: what `${owner}`, `${handler}` and `${worker}` in a migration stand for.
    public func roleName(_ role: Role) -> String {
        "\(self.service)_\(role.rawValue)\(self.suffix)"
    }

    /// The three role names by the variable that a migration uses.
    public var migrationVariables: [String: String] {
        Dictionary(uniqueKeysWithValues: Role.allCases.map { ($0.rawValue, self.roleName($0)) })
    }

    /// The URL of a role.
    public func url(_ role: Role) -> String {
        Self.url(self.superuserURL, database: self.name, user: self.roleName(role), password: self.password)
    }

    /// Runs SQL with psql, as the superuser or as a role, and returns its rows with columns joined by "|".
    ///
    /// Slow (a process per call): for set-up and checks.
    @discardableResult
    public func psql(_ sql: String, as role: Role? = nil) async throws -> [String] {
        let url = role.map(self.url) ?? self.superuserURL
        let output = try await Command.run("psql", [url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql])
        return output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }

    /// Drops the database, whoever is connected, and its roles.
    public func drop() async throws {
        let roles = Role.allCases.map(self.roleName).joined(separator: ", ")
        try await Command.run(
            "psql",
            [
                self.serverURL, "-XAtq", "-v", "ON_ERROR_STOP=1",
                "-c", "DROP DATABASE IF EXISTS \(self.name) WITH (FORCE)", "-c", "DROP ROLE IF EXISTS \(roles)",
            ]
        )
    }

    private func createOnServer() async throws {
        let names = ["database=\(self.name)"] + Role.allCases.map { "\($0.rawValue)=\(self.roleName($0))" }
        let passwords = Role.allCases.map { ("TRANSFA_\($0.rawValue.uppercased())_PASSWORD", self.password) }
        try await Command.run(
            "psql",
            [self.serverURL, "-Xq", "-f", Repository.path("deploy/postgres/roles.sql")]
                + names.flatMap { ["-v", $0] },
            environment: Dictionary(uniqueKeysWithValues: passwords)
        )
    }

    private static func url(
        _ url: String,
        database: String,
        user: String? = nil,
        password: String? = nil
    ) -> String {
        guard var components = URLComponents(string: url) else { return url }
        components.path = "/\(database)"
        components.user = user ?? components.user
        components.password = password ?? components.password
        return components.string ?? url
    }
}

/// Runs `body` with a database of its own and drops it afterwards (TRANSFA_TEST_KEEP=1 keeps it for a look).
public func withTestDatabase<Result>(
    _ service: String = "test",
    on servers: TestServers? = nil,
    _ body: (TestDatabase) async throws -> Result
) async throws -> Result {
    let database = try await TestDatabase.create(service, on: servers)
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
