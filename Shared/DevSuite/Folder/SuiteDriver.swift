import Foundation

/// Prepares, starts, looks at and stops the suite of a folder, whose processes outlive whoever started them.
public struct SuiteDriver: Sendable {
    /// How a part stands.
    public struct Standing: Sendable {
        /// The part.
        public let part: SuitePart
        /// Its process, when it runs.
        public let pid: Int32?
        /// Whether it runs and is ready.
        public let isReady: Bool
    }

    /// What the names of the broker's users begin with.
    public static let brokerUsers = "transfa-"

    /// Where the suite is kept.
    public let folder: SuiteFolder
    private let readyLimit: Duration
    private let stopLimit: Duration

    /// A driver of the suite in a folder.
    ///
    /// - Parameters:
    ///   - folder: Where the suite is kept.
    ///   - readyLimit: How long a part may take to become ready.
    ///   - stopLimit: How long a part may take to end by itself.
    public init(
        _ folder: SuiteFolder,
        readyLimit: Duration = .seconds(60),
        stopLimit: Duration = .seconds(15)
    ) {
        self.folder = folder
        self.readyLimit = readyLimit
        self.stopLimit = stopLimit
    }

    /// Databases with their roles and tables, and the settings of all parts; the servers run already.
    ///
    /// Repeatable: ports, secrets and databases that are there stay.
    ///
    /// - Parameters:
    ///   - binaries: The folder with the executables.
    ///   - deploy: The folder `deploy` of the repository.
    ///   - choices: What may be different from suite to suite.
    /// - Returns: What was prepared.
    /// - Throws: `SuiteError`, with the last lines of a log when a program failed.
    @discardableResult
    public func prepare(binaries: String, deploy: String, choices: SuiteChoices) async throws -> SuiteDescription {
        let ground = try self.ground(binaries: binaries, deploy: deploy, choices: choices)
        let description = SuiteDescription(ground)
        for part in description.parts where !FileManager.default.isExecutableFile(atPath: part.program) {
            throw SuiteError("\(part.program) is not there: scripts/bootstrap installs it, or swift build makes it.")
        }
        try self.folder.makeFolders([ground.logs, ground.sandboxFiles, "\(self.folder.path)/pids"])
        try await ground.appleCertificate.make(log: "\(ground.logs)/apple-certificate.log")
        let roles = "\(deploy)/postgres/roles.sql"
        try await Self.sideBySide(Array(ground.databases.values)) { database in
            let log = "\(ground.logs)/\(database.service)-database.log"
            try await Self.renewing(log) { try await database.creation(script: roles).run(log: log) }
        }
        try self.folder.keep(description)
        try await Self.sideBySide(description.parts) { part in
            guard let migration = part.migration else { return }
            let log = "\(ground.logs)/\(part.name)-migrations.log"
            try await Self.renewing(log) { try await migration.run(log: log, within: .seconds(600)) }
        }
        return description
    }

    /// The addresses at which the broker's administrator is, and the addresses of its users, of a suite that was prepared.
    public func brokerAddresses() throws -> (administrator: [String: String], users: [String]) {
        let settings = try self.folder.serverSettings()
        let names = ["RABBITMQ_URL", "RABBITMQ_MANAGEMENT_URL"]
        let administrator: [String: String] = names.reduce(into: [:]) { $0[$1] = settings["TRANSFA_TEST_\($1)"] }
        let users = try self.folder.description().parts.flatMap { part in
            ["RABBITMQ_URL", "RABBITMQ_TOPOLOGY_URL", "RABBITMQ_MANAGEMENT_URL"].compactMap { part.settings[$0] }
        }
        return (administrator, users)
    }

    /// Starts parts, all of them when none is named, and returns when they are ready; what runs already stays.
    ///
    /// When a part ends at once or does not become ready, what this call has started is stopped again.
    ///
    /// - Returns: The names of parts that ran already.
    @discardableResult
    public func start(_ names: [String] = []) async throws -> [String] {
        let description = try self.folder.description()
        let running = description.parts.map(\.name).filter { self.folder.record(of: $0).runningPID != nil }
        let plan = try StartPlan(description, named: names, running: Set(running))
        do {
            for stage in plan.stages {
                for part in stage { try await self.begin(part) }
                try await Self.sideBySide(stage) { try await self.awaitReady($0) }
            }
        } catch {
            await self.stop(plan.stages.flatMap(\.self))
            throw error
        }
        return plan.running
    }

    /// Stops parts, all of them when none is named, side by side, each within the time it asked for.
    public func stop(_ names: [String] = []) async throws {
        let description = try self.folder.description()
        var parts: [SuitePart] = []
        for name in names { parts.append(try description.part(name)) }
        await self.stop(names.isEmpty ? description.parts : parts)
    }

    /// How every part stands.
    public func standings() async throws -> [Standing] {
        var found: [Standing] = []
        for part in try self.folder.description().parts {
            let pid = self.folder.record(of: part.name).runningPID
            let isReady = pid == nil ? false : await part.readiness.holds
            found.append(Standing(part: part, pid: pid, isReady: isReady))
        }
        return found
    }

    // MARK: Steps

    private func ground(binaries: String, deploy: String, choices: SuiteChoices) throws -> SuiteGround {
        let settings = try self.folder.serverSettings()
        func address(_ name: String) throws(SuiteError) -> String {
            guard let value = settings[name] else { throw SuiteError("\(name) is not in the servers' addresses.") }
            return value
        }
        let servers = SuiteServers(
            postgres: try address("TRANSFA_TEST_POSTGRES_URL"),
            rabbitmq: try address("TRANSFA_TEST_RABBITMQ_URL"),
            management: try address("TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL"),
            redis: try address("TRANSFA_TEST_REDIS_URL"),
            brokerUsers: Self.brokerUsers
        )
        var databases: [String: SuiteDatabase] = [:]
        for service in SuiteGround.services {
            let server = settings["\(service.uppercased())_POSTGRES_URL"] ?? servers.postgres
            databases[service] = try SuiteDatabase(service: service, serverURL: server) { role in
                try self.folder.secret("\(service)-\(role.rawValue)", SuiteSecrets.Name.token)
            }
        }
        var ports: [String: Int] = [:]
        for name in SuiteGround.portNames(choices) { ports[name] = try self.folder.port(name) }
        // Made beside the executables, where it could be had.
        let reference = "\(binaries)/reference"
        return SuiteGround(
            binaries: binaries,
            deploy: deploy,
            files: self.folder.path,
            logs: self.folder.logs,
            ports: ports,
            secrets: try SuiteSecrets { try self.folder.secret($0.rawValue, $0.make) },
            servers: servers,
            databases: databases,
            choices: choices,
            reference: FileManager.default.fileExists(atPath: reference) ? reference : nil
        )
    }

    private func begin(_ part: SuitePart) async throws {
        for (name, port) in part.ports { try await self.awaitFree(port, of: part.name, keptIn: name) }
        try self.folder.record(of: part.name).start(part.launch(), log: part.log)
    }

    /// The last user may need a moment to let go of it.
    private func awaitFree(_ port: Int, of part: String, keptIn name: String) async throws {
        for _ in 0..<30 {
            guard LoopbackPort.answers(port) else { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        let file = self.folder.portFile(name)
        throw SuiteError(
            "Port \(port) of \(part) is taken by another program: end that, or remove \(file) and prepare again."
        )
    }

    private func awaitReady(_ part: SuitePart) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now + self.readyLimit
        let record = self.folder.record(of: part.name)
        while await !part.readiness.holds {
            guard record.runningPID != nil else { throw Self.failure(of: part, "ended at once") }
            guard clock.now < deadline else { throw Self.failure(of: part, "did not get ready") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    private func stop(_ parts: [SuitePart]) async {
        await withTaskGroup(of: Void.self) { group in
            for part in parts {
                group.addTask { await self.folder.record(of: part.name).stop(within: self.stopLimit) }
            }
        }
    }

    /// A part's failure, with the last lines of its log.
    static func failure(of part: SuitePart, _ what: String) -> SuiteError {
        let text = String(decoding: FileManager.default.contents(atPath: part.log) ?? Data(), as: UTF8.self)
        let lines = text.split(separator: "\n").suffix(20).joined(separator: "\n")
        return SuiteError("\(part.name) \(what), see \(part.log)\n\(lines)")
    }

    /// A log of one run alone.
    private static func renewing(_ log: String, _ body: () async throws -> Void) async throws {
        try? FileManager.default.removeItem(atPath: log)
        try await body()
    }

    private static func sideBySide<Element: Sendable>(
        _ elements: [Element],
        _ body: @escaping @Sendable (Element) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for element in elements { group.addTask { try await body(element) } }
            try await group.waitForAll()
        }
    }
}
