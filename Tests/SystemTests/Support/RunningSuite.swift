import AsyncHTTPClient
import EventLoops
import Foundation
import TestSupport

/// Seven services and the sandbox, as processes, on databases of their own.
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
    /// Kills and starts the suite's broker.
    let broker: ServerControl
    let http: HTTPClient
    let tokens = Locked<[String: (text: String, since: ContinuousClock.Instant)]>([:])
    /// How far the clocks of the services are ahead, in seconds.
    let clockOffset = Locked(0)
    private let processes = Locked<[String: ChildProcess]>([:])

    private init(environment: SuiteEnvironment, broker: ServerControl, http: HTTPClient) {
        self.environment = environment
        self.broker = broker
        self.http = http
    }

    // MARK: Life

    /// Starts everything, runs `body`, stops everything.
    ///
    /// The databases stay until the servers of the run are thrown away: dropping each costs a checkpoint.
    static func with(
        vhost: TestVhost,
        broker: ServerControl,
        redis: String,
        _ body: () async throws -> Void
    ) async throws {
        let databases = try await Self.databases()
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        configuration.connectionPool.retryConnectionEstablishment = false
        let environment = try SuiteEnvironment(databases: databases, vhost: vhost, redis: redis)
        try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            let suite = RunningSuite(environment: environment, broker: broker, http: http)
            do {
                try await suite.startAll()
                try await suite.run(body)
                await suite.stopAll()
            } catch {
                await suite.stopAll()
                throw error
            }
        }
    }

    /// One per service; side by side, for each takes a while.
    private static func databases() async throws -> [String: TestDatabase] {
        try await withThrowingTaskGroup(of: (String, TestDatabase).self) { group in
            for name in SuiteEnvironment.names {
                group.addTask { (name, try await TestDatabase.create(name)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func startAll() async throws {
        try await self.start(SuiteEnvironment.sandbox)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in SuiteEnvironment.names {
                group.addTask {
                    let variables = self.environment.migrationVariables(of: name)
                    let binary = try Repository.product(name)
                    try await Command.run(binary, ["--migrate-only"], environment: variables)
                    try await self.start(name)
                }
            }
            try await group.waitForAll()
        }
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
    func start(_ name: String, extra: [String: String] = [:], awaitReady: Bool = true) async throws -> ChildProcess {
        let variables = self.environment.variables(of: name).merging(extra) { $1 }
        let log = "\(Scratch.directory)/\(name).log"
        let process = try ChildProcess(try Repository.product(name), environment: variables, log: log)
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

    /// The process of a service.
    func process(_ name: String) throws -> ChildProcess {
        guard let process = self.processes.withLock({ $0[name] }) else { throw TestFailure("\(name) was not started") }
        return process
    }

    private func isReady(_ name: String) async throws -> Bool {
        guard name != SuiteEnvironment.sandbox else {
            return try await self.sandbox("GET", "/sandbox/health").status == 200
        }
        return try await self.operate("GET", name, "/health/ready").status == 200
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
