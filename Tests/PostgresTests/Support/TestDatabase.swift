import Foundation
import Logging
import Postgres
import Testing

/// What a test needs and does not have.
struct MissingServer: Error, CustomStringConvertible {
    let description: String
}

/// The superuser's URL of the server the tests use.
func serverURL() throws -> String {
    guard let url = ProcessInfo.processInfo.environment["TRANSFA_TEST_POSTGRES_URL"] else {
        throw MissingServer(description: "TRANSFA_TEST_POSTGRES_URL is not set: give the URL of a superuser")
    }
    return url
}

let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// The same server with another database, address or query.
func change(_ url: String, _ change: (inout URLComponents) -> Void) throws -> String {
    var components = try #require(URLComponents(string: url))
    change(&components)
    return try #require(components.string)
}

/// Runs `body` with the URL of a database of its own.
func withDatabase(_ body: (String) async throws -> Void) async throws {
    let server = try serverURL()
    let name = "test_\(UUID().uuidString.lowercased().replacing("-", with: "_"))"
    var configuration = try PostgresConfiguration(url: server)
    // The server may have many databases to make at once.
    configuration.statementTimeout = .seconds(60)
    configuration.connectTimeout = .seconds(30)
    let admin = PostgresClient(configuration: configuration, logger: silent)
    try await admin.withSession { try await $0.simple("CREATE DATABASE \(name)") }
    let outcome: Result<Void, any Error>
    do {
        try await body(try change(server) { $0.path = "/\(name)" })
        outcome = .success(())
    } catch { outcome = .failure(error) }
    try await admin.withSession { try await $0.simple("DROP DATABASE \(name) WITH (FORCE)") }
    try outcome.get()
}

/// Runs `body` with a running client.
func withClient(
    _ url: String,
    _ changes: [(inout PostgresConfiguration) -> Void] = [],
    _ body: (PostgresClient) async throws -> Void
) async throws {
    var configuration = try PostgresConfiguration(url: url)
    configuration.readConnections = 1
    configuration.leasedConnections = 2
    configuration.leaseTimeout = .seconds(20) * slowness
    configuration.statementTimeout *= slowness
    configuration.connectTimeout *= slowness
    configuration.minimumBackoff = .milliseconds(10)
    configuration.shutdownGrace = .seconds(1)
    for change in changes { change(&configuration) }
    let client = PostgresClient(configuration: configuration, logger: silent)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await client.run() }
        try await body(client)
        group.cancelAll()
    }
}

/// Runs `body` with a running client on a database of its own.
func withDatabaseClient(
    _ changes: [(inout PostgresConfiguration) -> Void] = [],
    _ body: (PostgresClient) async throws -> Void
) async throws {
    try await withDatabase { url in try await withClient(url, changes, body) }
}

/// The error that `body` throws, which must be a `PostgresError`.
func postgresError<Value>(
    _ location: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async throws -> PostgresError {
    do { _ = try await body() } catch let error as PostgresError { return error }
    throw MissingServer(description: "no error was thrown at \(location)")
}

/// How many times slower than usual this machine may be.
private let slowness = Int(ProcessInfo.processInfo.environment["TRANSFA_TEST_SLOWNESS"] ?? "") ?? 1

/// Waits until `condition` holds, by asking the server again and again.
func eventually(_ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(20) * slowness
    while ContinuousClock.now < end {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("the condition did not come true in \(20 * slowness) seconds")
}
