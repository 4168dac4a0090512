import Foundation
import TestSupport

/// The command lines of Docker and Compose.
struct DockerCommands: Sendable {
    /// Compose with its project and files.
    let compose: [String]
    /// Where the engine listens (DOCKER_HOST).
    let engine: String

    /// What the command lines read.
    var environment: [String: String] { ["DOCKER_HOST": self.engine] }

    /// Runs a command of Docker and gives what it printed.
    @discardableResult
    func docker(_ words: String...) async throws -> String {
        try await Command.run("docker", words, environment: self.environment)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command of Compose, with more files if some are named.
    @discardableResult
    func compose(_ words: [String], with files: [String] = []) async throws -> String {
        let line = self.compose.dropFirst() + files.flatMap { ["-f", $0] } + words
        return try await Command.run(self.compose[0], Array(line), environment: self.environment)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The container of a service.
    func container(of service: String) async throws -> String {
        let id = try await self.compose(["ps", "-q", service])
        guard !id.isEmpty else { throw TestFailure("\(service) has no container") }
        return id
    }
}
