/// The database of a service, with its three roles, on a server.
public struct SuiteDatabase: Sendable {
    /// A login role of a service.
    public enum Role: String, Sendable, CaseIterable {
        /// Runs migrations.
        case owner
        /// Serves HTTP, under row level security.
        case handler
        /// Runs consumers and jobs.
        case worker
    }

    /// The service that it belongs to.
    public let service: String
    /// What follows the names of database and roles, so that several suites share a server.
    public let suffix: String
    /// `postgres://` of the superuser; several hosts are allowed.
    public let serverURL: String
    private let passwords: [Role: String]

    /// A database that exists, or that `creation` will make.
    public init(
        service: String,
        suffix: String = "",
        serverURL: String,
        password: (Role) throws -> String
    ) rethrows {
        self.service = service
        self.suffix = suffix
        self.serverURL = serverURL
        var passwords: [Role: String] = [:]
        for role in Role.allCases { passwords[role] = try password(role) }
        self.passwords = passwords
        self.name = "transfa_\(service)\(suffix)"
    }

    /// Its name on the server.
    public private(set) var name: String

    /// Another database of the same roles.
    public func named(_ name: String) -> SuiteDatabase {
        var other = self
        other.name = name
        return other
    }

    /// The name of a role on the server.
    public func roleName(_ role: Role) -> String { "\(self.service)_\(role.rawValue)\(self.suffix)" }

    /// `postgres://` of a role to this database.
    public func url(_ role: Role) -> String {
        self.url(login: "\(self.roleName(role)):\(self.passwords[role] ?? "")")
    }

    /// `postgres://` of the superuser to this database.
    public var superuserURL: String { self.url(login: nil) }

    /// What makes the roles and the database, repeatable: `deploy/postgres/roles.sql` through psql.
    public func creation(script: String) -> Launch {
        let names = ["database=\(self.name)"] + Role.allCases.map { "\($0.rawValue)=\(self.roleName($0))" }
        let passwords = self.passwords.map { ("TRANSFA_\($0.key.rawValue.uppercased())_PASSWORD", $0.value) }
        return Launch(
            "psql",
            [self.serverURL, "-Xq", "-f", script] + names.flatMap { ["-v", $0] },
            environment: Dictionary(uniqueKeysWithValues: passwords)
        )
    }

    /// Cut by hand: no parser of addresses takes several hosts with a port each.
    private func url(login: String?) -> String {
        let options = self.serverURL.firstIndex(of: "?").map { String(self.serverURL[$0...]) } ?? ""
        let rest = self.serverURL.dropLast(options.count)
        let start = rest.firstRange(of: "://")?.upperBound ?? rest.startIndex
        let at = rest[start...].firstIndex(of: "@")
        let hosts = (at.map { rest[rest.index(after: $0)...] } ?? rest[start...]).prefix { $0 != "/" }
        let own = login ?? at.map { String(rest[start..<$0]) }
        return "\(rest[..<start])\(own.map { "\($0)@" } ?? "")\(hosts)/\(self.name)\(options)"
    }
}
