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
    func docker(_ words: String..., within limit: Duration = .seconds(120)) async throws -> String {
        try await Command.run("docker", words, environment: self.environment, within: limit)
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

    /// The container of a service, and none of its replicas: Compose lists them too.
    func container(of service: String, in project: String) async throws -> String {
        let labels = ["project=\(project)", "service=\(service)", "oneoff=False"]
        let filters = labels.flatMap { ["--filter", "label=com.docker.compose.\($0)"] }
        let line = ["ps", "--all", "--quiet", "--no-trunc"] + filters
        let found = try await Command.run("docker", line, environment: self.environment).split(separator: "\n")
        guard let id = found.first, found.count == 1 else {
            throw TestFailure("\(service) has \(found.count) containers and not one")
        }
        return String(id)
    }
}
