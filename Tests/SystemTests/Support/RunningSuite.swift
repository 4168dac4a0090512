import DevSuite
import EventLoops
import Foundation
import OutgoingHTTP
import TestSupport

/// Services and the sandbox, as processes, on databases of their own.
final class RunningSuite: Sendable {
    @TaskLocal private static var running: RunningSuite?

    /// The suite that the tests run in.
    static var current: RunningSuite {
        get throws {
            guard let suite = self.running else { throw TestFailure("the test is not in the running suite") }
            return suite
        }
    }

    /// Makes this suite the current one in `body`.
    private func run(_ body: () async throws -> Void) async throws {
        try await Self.$running.withValue(self) { try await body() }
    }

    let environment: SuiteEnvironment
    let http: HTTPClient
    let tokens = Locked<[String: (text: String, since: ContinuousClock.Instant)]>([:])
    /// How far the clocks of the services are ahead, in seconds.
    let clockOffset = Locked(0)
    private let processes = Locked<[String: any SuiteProcess]>([:])
    private let ground: Ground
    private let host: any SuiteHost

    /// What a suite runs on.
    struct Ground: Sendable {
        /// The services that run.
        var services = SuiteEnvironment.names
        let vhost: TestVhost
        let redis: String
        /// Servers that a test may hurt; their Postgres, if they have one, has the databases of `elsewhere`.
        var ownServers: TestServers?
        /// Services whose databases are not on the Postgres of the whole run.
        var elsewhere: Set<String> = []
        /// The containers that run already, if these are the suite.
        var composed: ComposedSuite?
    }

    private init(environment: SuiteEnvironment, http: HTTPClient, ground: Ground) throws {
        self.environment = environment
        self.http = http
        self.ground = ground
        self.host = try ground.composed?.host() ?? ProcessHost(environment: environment)
    }

    /// The vhost that the services meet in.
    var vhost: TestVhost { self.ground.vhost }

    /// The servers that only this suite uses.
    var ownServers: [TestServers] { [self.ground.ownServers].compactMap { $0 } }

    /// The address of this machine as the services see it.
    var hostAddress: String { self.host.address }

    /// Hurts the broker, Redis, or the Postgres of the services elsewhere.
    var control: any ServerFaults {
        get throws {
            if let composed = self.ground.composed { return try composed.host() }
            guard let servers = self.ground.ownServers else { throw TestFailure("the suite shares its servers") }
            return servers.control
        }
    }

    /// Empties Redis.
    func flushRedis() async throws { try await self.redis(["FLUSHALL"]) }

    /// Runs a command of Redis and gives what it answers.
    @discardableResult
    func redis(_ words: [String]) async throws -> String {
        try await Command.run("redis-cli", ["-e", "--no-auth-warning", "-u", self.ground.redis] + words)
    }

    // MARK: Life

    /// Starts everything, runs `body`, stops everything.
    ///
    /// The databases stay until the servers of the run are thrown away: dropping each costs a checkpoint.
    static func with(_ ground: Ground, _ body: () async throws -> Void) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.callsAtOnce = 256
        let environment = try await Self.environment(ground)
        let suite = try RunningSuite(environment: environment, http: HTTPClient(configuration), ground: ground)
        do {
            if ground.composed == nil { try await environment.makeBrokerUsers(on: ground.vhost) }
            try await suite.startAll()
            try await suite.run(body)
            await suite.stopAll()
        } catch {
            await suite.stopAll()
            if ground.composed == nil { await environment.deleteBrokerUsers(on: ground.vhost) }
            throw error
        }
        if ground.composed == nil { await environment.deleteBrokerUsers(on: ground.vhost) }
    }

    private static func environment(_ ground: Ground) async throws -> SuiteEnvironment {
        if let composed = ground.composed { return try SuiteEnvironment(composed) }
        let databases = try await Self.databases(ground)
        return try SuiteEnvironment(databases: databases, vhost: ground.vhost, redis: ground.redis)
    }

    /// One per service; side by side, for each takes a while.
    private static func databases(_ ground: Ground) async throws -> [String: TestDatabase] {
        try await withThrowingTaskGroup(of: (String, TestDatabase).self) { group in
            for name in ground.services {
                let servers = ground.elsewhere.contains(name) ? ground.ownServers : nil
                let template = try SuiteEnvironment.template(of: name)
                group.addTask { (name, try await TestDatabase.create(from: template, on: servers)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func startAll() async throws {
        try await self.host.prepare(self.ground.services)
        try await self.start(SuiteEnvironment.sandbox)
        if self.ground.composed == nil { try await self.start(SuiteGround.apple) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in self.ground.services {
                group.addTask { try await self.start(name) }
            }
            try await group.waitForAll()
        }
        try await self.awaitListeners(self.ground.services)
    }

    private func stopAll() async {
        await withTaskGroup(of: Void.self) { group in
            for process in self.processes.withLock({ $0.values }) {
                group.addTask { await process.terminate(within: .seconds(15)) }
            }
        }
    }

    // MARK: Processes

    /// Starts a service, with `extra` variables, and waits until it is ready.
    @discardableResult
    func start(
        _ name: String,
        extra: [String: String] = [:],
        awaitReady: Bool = true
    ) async throws -> any SuiteProcess {
        let process = try await self.host.start(name, extra: extra)
        self.processes.withLock { $0[name] = process }
        guard awaitReady else { return process }
        do {
            try await eventually("\(name) to be ready", within: .seconds(60), every: .milliseconds(50)) {
                guard process.isRunning else { throw TestFailure("it ended") }
                return try await self.isReady(name)
            }
        } catch {
            throw TestFailure("\(error)\n--- the last lines of \(name):\n\(process.log.suffix(3000))")
        }
        return process
    }

    /// Starts a second process of a service with `extra` variables, whose servers listen at these ports.
    func startReplica(
        of name: String,
        port: Int,
        internalPort: Int,
        extra: [String: String]
    ) async throws -> any SuiteProcess {
        try await self.host.startReplica(of: name, port: port, internalPort: internalPort, extra: extra)
    }

    /// The processes of all services by name.
    var pids: [String: Int32] { self.processes.withLock { $0.filter(\.value.isRunning).mapValues(\.pid) } }

    /// The process of a service.
    func process(_ name: String) throws -> any SuiteProcess {
        guard let process = self.processes.withLock({ $0[name] }) else { throw TestFailure("\(name) was not started") }
        return process
    }

    private func isReady(_ name: String) async throws -> Bool {
        try await self.environment.part(name).readiness.holds
    }

    // MARK: Databases

    /// Runs SQL on the database of a service, past all row level security.
    @discardableResult
    func rows(_ service: String, _ sql: String) async throws -> [String] {
        guard let database = self.environment.databases[service] else { throw TestFailure("no service \(service)") }
        return try await database.psql(sql)
    }

    /// The one number that a query of transaction's database gives.
    func number(_ sql: String, of service: String = "transaction") async throws -> Int {
        guard let text = try await self.rows(service, sql).first, let number = Int(text) else {
            throw TestFailure("no number came of: \(sql)")
        }
        return number
    }

    /// What does not hold in the books.
    func brokenInvariants() async throws -> [String] {
        try await self.rows("transaction", "SELECT name, detail FROM check_invariants()")
    }
}
