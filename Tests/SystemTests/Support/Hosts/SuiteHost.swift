import TestSupport

/// What runs the services of a suite.
protocol SuiteHost: Sendable {
    /// The address of this machine as the services see it.
    var address: String { get }

    /// Makes everything ready for the services, such as their tables, and starts what is started once for all of them.
    func prepare(_ services: [String]) async throws

    /// Starts a service with `extra` variables.
    func start(_ name: String, extra: [String: String]) async throws -> any SuiteProcess

    /// Starts a second process of a service with `extra` variables, whose servers listen at these ports of this machine.
    func startReplica(
        of name: String,
        port: Int,
        internalPort: Int,
        extra: [String: String]
    ) async throws -> any SuiteProcess
}

/// Services as processes of this machine, as they were built with the tests.
struct ProcessHost: SuiteHost {
    let environment: SuiteEnvironment

    var address: String { "127.0.0.1" }

    func prepare(_ services: [String]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in services {
                group.addTask {
                    let variables = self.environment.migrationVariables(of: name)
                    try await Command.run(try Repository.product(name), ["--migrate-only"], environment: variables)
                }
            }
            try await group.waitForAll()
        }
    }

    func start(_ name: String, extra: [String: String]) async throws -> any SuiteProcess {
        let variables = self.environment.variables(of: name).merging(extra) { $1 }
        let log = "\(Scratch.directory)/\(name).log"
        return try ChildProcess(try Repository.product(name), environment: variables, log: log)
    }

    func startReplica(
        of name: String,
        port: Int,
        internalPort: Int,
        extra: [String: String]
    ) async throws -> any SuiteProcess {
        var variables = self.environment.variables(of: name).merging(extra) { $1 }
        variables["PORT"] = "\(port)"
        variables["INTERNAL_PORT"] = "\(internalPort)"
        let log = "\(Scratch.directory)/\(name)-replica-\(port).log"
        return try ChildProcess(try Repository.product(name), environment: variables, log: log)
    }
}
