/// A suite that can be started: every part with its settings, ports and readiness, and what tools need to call it.
///
/// Decided before anything starts. A folder keeps it as JSON, and `transfactl dev env --json` prints it.
public struct SuiteDescription: Sendable, Codable, Equatable {
    /// The addresses of a service's database.
    public struct Database: Sendable, Codable, Equatable {
        /// Runs migrations.
        public let owner: String
        /// Serves HTTP.
        public let handler: String
        /// Runs consumers and jobs.
        public let worker: String
        /// For what the roles may not see.
        public let superuser: String

        init(_ database: SuiteDatabase) {
            self.owner = database.url(.owner)
            self.handler = database.url(.handler)
            self.worker = database.url(.worker)
            self.superuser = database.superuserURL
        }
    }

    /// The parts, in the order in which they are listed.
    public let parts: [SuitePart]
    /// What `transfactl` reads.
    public let tool: [String: String]
    /// The tokens of operators, by name.
    public let operators: [String: String]
    /// The servers under it.
    public let servers: SuiteServers
    /// The databases by service.
    public let databases: [String: Database]

    /// The suite on a ground.
    public init(_ ground: SuiteGround) {
        self.parts = SuitePartKind.all(ground.choices).map { Self.part($0, on: ground) }
        self.tool = ground.tool
        self.operators = ground.secrets.operatorTokens
        self.servers = ground.servers
        self.databases = ground.databases.mapValues(Database.init)
    }

    init(
        parts: [SuitePart],
        tool: [String: String],
        operators: [String: String],
        servers: SuiteServers,
        databases: [String: Database]
    ) {
        self.parts = parts
        self.tool = tool
        self.operators = operators
        self.servers = servers
        self.databases = databases
    }

    /// A part by its name.
    public func part(_ name: String) throws(SuiteError) -> SuitePart {
        guard let part = self.parts.first(where: { $0.name == name }) else {
            let known = self.parts.map(\.name).joined(separator: ", ")
            throw SuiteError("There is no part \(name); there are \(known).")
        }
        return part
    }

    private static func part(_ kind: SuitePartKind, on ground: SuiteGround) -> SuitePart {
        let ports = kind.portNames.map { ($0, ground.ports[$0] ?? 0) }
        let readiness: SuitePart.Readiness =
            switch kind {
            case .sandbox: .answers(port: ground.ports[kind.name] ?? 0, path: "/sandbox/health")
            case .apple: .listens(port: ground.ports[kind.name] ?? 0)
            case .service, .importer, .gateway:
                .answers(port: ground.ports["\(kind.name)-internal"] ?? 0, path: SuitePart.servicePath)
            }
        return SuitePart(
            name: kind.name,
            stage: kind.stage,
            program: kind.program.contains("/") ? kind.program : "\(ground.binaries)/\(kind.program)",
            arguments: kind.arguments(on: ground),
            settings: ground.settings(of: kind),
            ports: Dictionary(uniqueKeysWithValues: ports),
            readiness: readiness,
            log: "\(ground.logs)/\(kind.name).log",
            migrationURL: kind.ownDatabase.flatMap { ground.databases[$0]?.url(.owner) }
        )
    }
}
