import Foundation
import Logging
import Testing

@testable import Redis

/// A configuration for tests.
func adjusted(
    _ url: String,
    _ adjust: (inout RedisConfiguration) -> Void = { _ in }
) throws -> RedisConfiguration {
    var configuration = try RedisConfiguration(url: url)
    // Far from what a busy machine needs; tests about deadlines set their own.
    configuration.commandTimeout = .seconds(20)
    configuration.stuckAfter = .seconds(30)
    adjust(&configuration)
    return configuration
}

/// Runs a client around `body`; it is connected when `body` begins unless `connected` is false.
func withClient<Value>(
    _ configuration: RedisConfiguration,
    connected: Bool = true,
    _ body: (RedisClient) async throws -> Value
) async throws -> Value {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let client = try RedisClient(configuration: configuration, logger: logger)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await client.run() }
        if connected { try await expectConnected(client) }
        let value = try await body(client)
        group.cancelAll()
        try await group.waitForAll()
        return value
    }
}

extension RedisClient {
    /// Sends words as they are, none of them a key with a prefix.
    func send(_ words: [String], timeout: Duration? = nil) async throws(RedisError) -> RedisValue {
        try await self.send(RedisCommand(words), timeout: timeout)
    }

    /// Sends words of any bytes.
    func send(bytes words: [[UInt8]]) async throws(RedisError) -> RedisValue {
        let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return try await self.send(RedisCommand(name, words.dropFirst().map(RedisArgument.bytes)))
    }

    /// Sends several lists of words.
    func pipeline(_ commands: [[String]], timeout: Duration? = nil) async throws(RedisError) -> [RedisValue] {
        try await self.pipeline(commands.map { RedisCommand($0) }, timeout: timeout)
    }
}

extension RedisCommand {
    fileprivate init(_ words: [String]) {
        self.init(words.first ?? "", words.dropFirst().map(RedisArgument.text))
    }
}

/// Waits until the client is connected, and fails after ten seconds.
func expectConnected(_ client: RedisClient) async throws {
    let isConnected = await withTaskGroup(of: Bool?.self) { group in
        group.addTask { await client.waitUntilConnected() }
        group.addTask {
            try? await Task.sleep(for: .seconds(10))
            return nil
        }
        let first = await group.next() ?? nil
        group.cancelAll()
        return first ?? false
    }
    guard isConnected else { throw SetupFailure(description: "not connected within ten seconds") }
}

/// Waits until so many commands are on their way.
func expectInFlight(_ count: Int, _ client: RedisClient) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while client.commandsInFlight != count || client.gate.hasQueue {
        guard ContinuousClock.now < deadline else {
            throw SetupFailure(description: "\(client.commandsInFlight) instead of \(count) commands in flight")
        }
        await Task.yield()
    }
}

/// The error that a command ends with, nil when it succeeds.
func failure(_ body: () async throws(RedisError) -> Void) async -> RedisError? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}

/// A key that no other test uses.
func ownKey() -> String { "test:\(UUID().uuidString.lowercased())" }
