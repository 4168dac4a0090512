import DevSuite
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
            group.addTask {
                let log = "\(Scratch.directory)/apple-certificate-\(Scratch.shortName()).log"
                try await self.environment.appleCertificate.make(log: log)
            }
            for name in services {
                guard let migration = try self.environment.part(name).migration else { continue }
                group.addTask { try await Command.run(migration) }
            }
            try await group.waitForAll()
        }
    }

    func start(_ name: String, extra: [String: String]) async throws -> any SuiteProcess {
        try self.start(try self.environment.part(name), extra)
    }

    func startReplica(
        of name: String,
        port: Int,
        internalPort: Int,
        extra: [String: String]
    ) async throws -> any SuiteProcess {
        try self.start(try self.environment.part(name).replica(port: port, internalPort: internalPort), extra)
    }

    private func start(_ part: SuitePart, _ extra: [String: String]) throws -> any SuiteProcess {
        let launch = part.launch(extra: extra)
        return try ChildProcess(launch.program, launch.arguments, environment: launch.environment, log: part.log)
    }
}
