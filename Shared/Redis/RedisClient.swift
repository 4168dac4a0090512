import EventLoops
public import Logging

/// One shared connection to Redis.
///
/// Commands of all callers are pipelined on it. Redis is a cache here: while it is away every command fails at once
/// with `unavailable`, and callers go on without it. Commands are sent in the order in which they were accepted; a
/// caller that is cancelled gets its answer no later than the deadline.
public final class RedisClient: Sendable {
    private let configuration: RedisConfiguration
    private let logger: Logger
    let gate: Gate

    /// Makes a client that connects once `run()` is called.
    public init(configuration: RedisConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        self.gate = Gate(configuration)
    }

    /// Keeps the connection until cancelled; call it once.
    ///
    /// On cancellation new commands are refused and those in flight get their replies or their deadlines.
    public func run() async {
        let loop = EventLoopThread(name: "redis")
        let driver = RedisDriver(loop: loop, gate: self.gate, configuration: self.configuration, logger: self.logger)
        await driver.serve()
        loop.stop()
    }

    /// Whether commands are accepted at the moment.
    public var isConnected: Bool { self.gate.isOpen }

    /// Commands accepted and not answered by Redis yet, those whose callers have given up included.
    public var commandsInFlight: Int { self.gate.commandsInFlight }

    /// Waits for the connection.
    ///
    /// - Returns: false when the caller was cancelled or the client has stopped.
    public func waitUntilConnected() async -> Bool { await self.gate.waitUntilOpen() }

    /// Sends a command and waits for its reply.
    ///
    /// - Parameters:
    ///   - arguments: The command's name and arguments.
    ///   - timeout: How long to wait, nil for the configuration's `commandTimeout`.
    /// - Returns: The reply; an error reply is thrown.
    /// - Throws: `RedisError`; its `wasNotSent` tells whether the command certainly did not run.
    public func send(_ arguments: [String], timeout: Duration? = nil) async throws(RedisError) -> RedisValue {
        try await self.submit([RedisCommand(arguments)], timeout).first ?? .null
    }

    /// Sends a command with arguments of any bytes and waits for its reply; see `send` with strings.
    public func send(bytes arguments: [[UInt8]], timeout: Duration? = nil) async throws(RedisError) -> RedisValue {
        try await self.submit([RedisCommand(arguments)], timeout).first ?? .null
    }

    /// Sends several commands in one go, with no command of another caller in between, and waits for all replies.
    ///
    /// - Parameters:
    ///   - commands: Names and arguments.
    ///   - timeout: How long to wait for all of them, nil for the configuration's `commandTimeout`.
    /// - Returns: One reply per command.
    /// - Throws: `RedisError`: the first error reply, after every command has been answered; all the others have run.
    public func pipeline(_ commands: [[String]], timeout: Duration? = nil) async throws(RedisError) -> [RedisValue] {
        try await self.submit(commands.map { RedisCommand($0) }, timeout)
    }

    private func submit(_ commands: [RedisCommand], _ timeout: Duration?) async throws(RedisError) -> [RedisValue] {
        for command in commands {
            if let refusal = command.refusal { throw refusal }
        }
        guard !commands.isEmpty else { return [] }
        let deadline = ContinuousClock.now + (timeout ?? self.configuration.commandTimeout)
        return try await withHandover { caller in
            self.gate.submit(Submission(commands: commands, deadline: deadline, caller: caller))
        }.get()
    }
}
