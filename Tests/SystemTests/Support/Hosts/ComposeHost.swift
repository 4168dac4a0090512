import Foundation
import TestSupport

/// Services in containers of a Compose project.
struct ComposeHost: SuiteHost {
    let docker: DockerCommands
    /// What names of its containers begin with.
    let project: String
    let address: String
    /// Where files with changed settings are written.
    let folder: String

    func prepare(_ services: [String]) async throws {
        try FileManager.default.createDirectory(atPath: self.folder, withIntermediateDirectories: true)
    }

    func start(_ name: String, extra: [String: String]) async throws -> any SuiteProcess {
        let file = try self.override(of: name, with: extra)
        // Nothing of an earlier run stays: neither its settings nor its log.
        let words = ["up", "--detach", "--no-deps", "--no-build", "--force-recreate", name]
        try await self.docker.compose(words, with: [file])
        let container = try await self.docker.container(of: name, in: self.project)
        return try await ContainerProcess(container, of: self.docker, log: "\(Scratch.directory)/\(name).log")
    }

    func startReplica(
        of name: String,
        port: Int,
        internalPort: Int,
        extra: [String: String]
    ) async throws -> any SuiteProcess {
        let container = "\(self.project)_\(name)_replica_\(port)"
        let ports = ["127.0.0.1:\(port):8080", "127.0.0.1:\(internalPort):9080"].flatMap { ["--publish", $0] }
        let options = ports + extra.flatMap { ["-e", "\($0)=\($1)"] }
        try await self.docker.compose(["run", "--detach", "--no-deps", "--name", container] + options + [name])
        let log = "\(Scratch.directory)/\(name)-replica-\(port).log"
        return try await ContainerProcess(container, of: self.docker, log: log)
    }

    /// A file of Compose with the variables of one service, which is not started again when it dies: tests do that.
    private func override(of name: String, with extra: [String: String]) throws -> String {
        let service: [String: Any] = ["environment": extra, "restart": "no"]
        let path = "\(self.folder)/\(name).json"
        let json = try JSONSerialization.data(withJSONObject: ["services": [name: service]])
        try json.write(to: URL(fileURLWithPath: path))
        return path
    }
}

extension ComposeHost: ServerFaults {
    func kill(_ server: TestServer) async throws {
        try await self.docker.compose(["kill", "--signal", "SIGKILL", server.rawValue])
    }

    func start(_ server: TestServer) async throws {
        try await self.docker.compose(["start", server.rawValue])
        let container = try await self.docker.container(of: server.rawValue, in: self.project)
        try await eventually("\(server.rawValue) to be healthy", within: .seconds(90)) {
            try await self.docker.docker("inspect", "--format", "{{.State.Health.Status}}", container) == "healthy"
        }
    }
}
