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
    ///
    /// One at a time: Compose looks at all containers of its project, and fails when another one removes one meanwhile.
    @discardableResult
    func compose(_ words: [String], with files: [String] = []) async throws -> String {
        let line = [Self.lock] + self.compose + files.flatMap { ["-f", $0] } + words
        return try await Command.run("flock", line, environment: self.environment, within: .seconds(300))
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static var lock: String { "\(Scratch.directory)/compose.lock" }

    /// The container of a service.
    func container(of service: String) async throws -> String {
        let id = try await self.compose(["ps", "-q", service])
        guard !id.isEmpty else { throw TestFailure("\(service) has no container") }
        return id
    }
}
