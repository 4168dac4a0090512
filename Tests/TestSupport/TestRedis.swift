import Foundation

/// Runs `body` with the URL of an empty Redis database of its own, emptied again afterwards.
public func withTestRedis<Result>(
    on servers: TestServers? = nil,
    _ body: (String) async throws -> Result
) async throws -> Result {
    let base = try (servers ?? TestServers.shared()).redisURL
    // Database 0 holds the counter that gives out the numbers 1 to 511, to all processes of a run.
    let counted = try await Command.run(
        "redis-cli",
        ["--no-auth-warning", "-u", base, "INCR", "transfa-test-database"]
    )
    guard let count = Int(counted.trimmingCharacters(in: .whitespacesAndNewlines)) else {
        throw TestFailure("Redis answered \(counted)")
    }
    let number = 1 + count % 511
    let url = String(base.dropLast()) + "\(number)"
    try await Command.run("redis-cli", ["-u", url, "FLUSHDB"])
    do {
        let result = try await body(url)
        try await Command.run("redis-cli", ["-u", url, "FLUSHDB"])
        return result
    } catch {
        // Redis may be down on purpose.
        _ = try? await Command.run("redis-cli", ["-u", url, "FLUSHDB"])
        throw error
    }
}
