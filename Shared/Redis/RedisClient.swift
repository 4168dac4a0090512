import EventLoops
public import Logging

/// One shared connection to Redis.
///
/// Commands of all callers are pipelined on it. Redis is a cache here: while it is away every command fails at once
/// with `unavailable`, and callers go on without it. Commands are sent in the order in which they were accepted; a
/// caller that is cancelled gets its answer no later than the deadline.
public final class RedisClient: Sendable {
    private let configuration: RedisConfiguration
    private let tls: TLSContext?
    private let prefix: [UInt8]
    private let logger: Logger
    let gate: Gate

    /// Makes a client that connects once `run()` is called.
    ///
    /// - Throws: `RedisError` with `misconfigured` when a file of TLS cannot be used; `reply` is its `TLSFiles.Part`.
    public init(configuration: RedisConfiguration, logger: Logger) throws(RedisError) {
        self.configuration = configuration
        self.tls = configuration.usesTLS ? try TLSContext(configuration.tlsFiles) : nil
        self.prefix = Array(configuration.prefix.utf8)
        self.logger = logger
        self.gate = Gate(configuration)
    }

    /// Keeps the connection until cancelled; call it once.
    ///
    /// On cancellation new commands are refused and those in flight get their replies or their deadlines.
    public func run() async {
        let loop = EventLoopThread(name: "redis")
        let driver = RedisDriver(
            loop: loop,
            gate: self.gate,
            configuration: self.configuration,
            tls: self.tls,
            logger: self.logger
        )
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
    ///   - command: Its name and arguments.
    ///   - timeout: How long to wait, nil for the configuration's `commandTimeout`.
    /// - Returns: The reply; an error reply is thrown.
    /// - Throws: `RedisError`; its `wasNotSent` tells whether the command certainly did not run.
    public func send(_ command: RedisCommand, timeout: Duration? = nil) async throws(RedisError) -> RedisValue {
        try await self.pipeline([command], timeout: timeout).first ?? .null
    }

    /// Sends several commands in one go, with no command of another caller in between, and waits for all replies.
    ///
    /// - Parameters:
    ///   - commands: Names and arguments.
    ///   - timeout: How long to wait for all of them, nil for the configuration's `commandTimeout`.
    /// - Returns: One reply per command.
    /// - Throws: `RedisError`: the first error reply, after every command has been answered; all the others have run.
    public func pipeline(
        _ commands: [RedisCommand],
        timeout: Duration? = nil
    ) async throws(RedisError) -> [RedisValue] {
        do throws(RedisError) {
            return try await self.submit(commands, timeout)
        } catch {
            self.configuration.observe(error)
            throw error
        }
    }

    private func submit(_ commands: [RedisCommand], _ timeout: Duration?) async throws(RedisError) -> [RedisValue] {
        for command in commands {
            if let refusal = command.refusal { throw refusal }
        }
        guard !commands.isEmpty else { return [] }
        let deadline = ContinuousClock.now + (timeout ?? self.configuration.commandTimeout)
        let bytes = commands.reduce(into: [UInt8]()) { $0 += $1.encoded(prefix: self.prefix) }
        return try await withHandover { caller in
            self.gate.submit(
                Submission(bytes: bytes, commandCount: commands.count, deadline: deadline, caller: caller)
            )
        }.get()
    }
}
