/// One process of a suite: what is started, with which settings, and how one sees that it is ready.
public struct SuitePart: Sendable, Codable, Equatable {
    /// How one sees that a part is ready.
    public enum Readiness: Sendable, Codable, Equatable {
        /// GET of this path on this loopback port is answered with 200.
        case answers(port: Int, path: String)
        /// This loopback port accepts connections.
        case listens(port: Int)
    }

    /// What people and files call it, such as "auth".
    public let name: String
    /// Parts of one stage start side by side, once all parts of the stages before are ready.
    public let stage: Int
    /// The path of its executable.
    public let program: String
    /// What the executable is started with.
    public let arguments: [String]
    /// The variables that it sees, besides PATH and HOME.
    public let settings: [String: String]
    /// Its ports by the names under which a folder keeps them: its own name, and that with "-internal".
    public let ports: [String: Int]
    /// How one sees that it is ready.
    public let readiness: Readiness
    /// Where it writes.
    public let log: String
    /// The owner's address of its database, for migrations alone: a part that runs never has it.
    public let migrationURL: String?

    private enum CodingKeys: String, CodingKey {
        case name, stage, program, arguments, settings, ports, readiness, log
        case migrationURL = "migration_url"
    }

    /// The port at which clients call it.
    public var publicPort: Int? { self.ports[self.name] }

    /// The port at which peers and operators call it.
    public var internalPort: Int? { self.ports["\(self.name)-internal"] }

    /// What starts it, with these variables more.
    public func launch(extra: [String: String] = [:]) -> Launch {
        Launch(self.program, self.arguments, environment: self.settings.merging(extra) { $1 })
    }

    /// What applies its migrations and ends; nil when it has no database.
    public var migration: Launch? {
        guard let url = self.migrationURL else { return nil }
        let environment = self.settings.merging(["MIGRATION_DATABASE_URL": url]) { $1 }
        return Launch(self.program, ["--migrate-only"], environment: environment)
    }

    /// A second process of the same part, whose servers listen at these ports.
    public func replica(port: Int, internalPort: Int) -> SuitePart {
        let own = ["PORT": "\(port)", "INTERNAL_PORT": "\(internalPort)"]
        let name = "\(self.name)-replica-\(port)"
        return SuitePart(
            name: name,
            stage: self.stage,
            program: self.program,
            arguments: self.arguments,
            settings: self.settings.merging(own) { $1 },
            ports: [name: port, "\(name)-internal": internalPort],
            readiness: .answers(port: internalPort, path: Self.servicePath),
            log: "\(self.log.hasSuffix(".log") ? String(self.log.dropLast(4)) : self.log)-replica-\(port).log",
            migrationURL: nil
        )
    }

    static let servicePath = "/health/ready"
}
