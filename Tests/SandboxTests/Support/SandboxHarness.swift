import AnchorClient
import Foundation
import Logging
import OutgoingHTTP
import Primitives
import ServiceLifecycle
import Testing

@testable import SandboxService

/// A running sandbox on free ports, and ways to talk to it.
struct SandboxHandle: Sendable {
    static let apiKey = "test-key"
    static let webhookToken = "12345"
    static let issuer = "https://clerk.transfa.test"

    let port: Int
    let pushPort: Int
    let http: HTTPClient

    var baseURL: String { "http://127.0.0.1:\(self.port)" }

    var client: AnchorClient { self.client() }

    func client(apiKey: String = Self.apiKey, circuit: AnchorCircuit? = nil) -> AnchorClient {
        AnchorClient(baseURL: self.baseURL, apiKey: apiKey, http: self.http, deadline: .seconds(10), circuit: circuit)
    }

    /// One request as it is; the provider's key is added.
    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSON? = nil,
        headers: [String: String] = [:]
    ) async throws -> (status: Int, json: JSON) {
        var call = HTTPCall(method, self.baseURL + path, longestAnswer: 4 * 1024 * 1024)
        call.headers.append(("content-type", "application/json"))
        if headers["x-anchor-key"] == nil { call.headers.append(("x-anchor-key", Self.apiKey)) }
        for (name, value) in headers where !value.isEmpty { call.headers.append((name, value)) }
        call.body = body?.bytes
        let answer = try await self.http.send(call, within: .seconds(20))
        return (answer.status, JSON(parsing: answer.body) ?? .null)
    }

    /// A call of the control API that must succeed.
    @discardableResult
    func control(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let (status, json) = try await self.send(method, "/sandbox/" + path, body)
        try #require((200...299).contains(status), "control call \(path) answered \(status)")
        return json
    }

    /// Asks until the answer is there: for facts that no event announces.
    func eventually<Value: Sendable>(_ what: String, _ ask: () async throws -> Value?) async throws -> Value {
        for _ in 0..<400 {
            if let value = try await ask() { return value }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw NeverHappened(what: what)
    }
}

struct NeverHappened: Error {
    let what: String
}

/// Runs a sandbox while the body runs.
///
/// With a directory it keeps its state there.
func withSandbox(
    directory: String? = nil,
    webhookURL: String? = nil,
    _ body: @Sendable @escaping (SandboxHandle) async throws -> Void
) async throws {
    var configuration = SandboxConfiguration(
        apiKeys: [SandboxHandle.apiKey],
        webhookToken: SandboxHandle.webhookToken,
        clerkIssuer: SandboxHandle.issuer
    )
    configuration.stateDirectory = directory
    configuration.webhookURL = webhookURL
    configuration.pushPort = 0
    configuration.kycDelay = 5
    configuration.transferDelay = 20
    let (ports, announce) = AsyncStream<Int>.makeStream()
    let (pushPorts, announcePush) = AsyncStream<Int>.makeStream()
    var logger = Logger(label: "sandbox-test")
    logger.logLevel = .error
    let application = try SandboxApplication(
        configuration: configuration,
        logger: logger,
        onListening: { announce.yield($0) },
        onListeningForPushes: { announcePush.yield($0) }
    )
    try await withThrowingTaskGroup(of: Void.self) { group in
        let services = ServiceGroup(configuration: .init(services: [application], logger: logger))
        group.addTask { try await services.run() }
        let port = try #require(await ports.first { _ in true })
        let pushPort = try #require(await pushPorts.first { _ in true })
        let http = HTTPClient()
        let handle = SandboxHandle(port: port, pushPort: pushPort, http: http)
        let result: Result<Void, any Error>
        do { result = .success(try await body(handle)) } catch { result = .failure(error) }
        await http.shutdown()
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
        try result.get()
    }
}

/// A folder for one test, removed afterwards.
func withTemporaryDirectory(_ body: (String) async throws -> Void) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let result: Result<Void, any Error>
    do { result = .success(try await body(url.path)) } catch { result = .failure(error) }
    try FileManager.default.removeItem(at: url)
    try result.get()
}
