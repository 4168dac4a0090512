/// A server that `scripts/servers` can run.
public enum TestServer: String, Sendable, CaseIterable {
    case postgres
    case redis
    case rabbitmq
}

/// Faults for private servers.
///
/// Port and data stay over all of it (Redis keeps no data).
public struct ServerControl: Sendable {
    /// The folder that `scripts/servers` made.
    public let directory: String

    /// Sends kill -9, for Postgres to all its backends too, and waits until the process is gone.
    public func kill(_ server: TestServer) async throws {
        try await self.act("kill", server)
    }

    /// Stops a server cleanly and waits until the process is gone.
    public func stop(_ server: TestServer) async throws {
        try await self.act("stop", server)
    }

    /// Starts a stopped or killed server and waits until it accepts connections.
    public func start(_ server: TestServer) async throws {
        try await self.act("start", server)
    }

    /// A clean stop and a start.
    public func restart(_ server: TestServer) async throws {
        try await self.act("restart", server)
    }

    /// SIGSTOP: connections stay open and nothing answers.
    public func pause(_ server: TestServer) async throws {
        try await self.act("pause", server)
    }

    /// Ends a pause.
    public func resume(_ server: TestServer) async throws {
        try await self.act("resume", server)
    }

    /// Runs `body` while the broker's memory alarm is on, so that it blocks every publisher.
    public func withMemoryAlarm<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await self.rabbitmqctl("set_vm_memory_high_watermark", "absolute", "1MB")
        do {
            let result = try await body()
            try await self.rabbitmqctl("set_vm_memory_high_watermark", "absolute", "1GB")
            return result
        } catch {
            try await self.rabbitmqctl("set_vm_memory_high_watermark", "absolute", "1GB")
            throw error
        }
    }

    /// Runs `rabbitmqctl` against this node; each call takes about a second.
    @discardableResult
    public func rabbitmqctl(_ arguments: String...) async throws -> String {
        try await Command.run("\(self.directory)/rabbitmqctl", ["-q"] + arguments)
    }

    private func act(_ verb: String, _ server: TestServer) async throws {
        try await Command.run(Repository.path("scripts/servers"), ["\(verb)-\(server.rawValue)", self.directory])
    }
}
