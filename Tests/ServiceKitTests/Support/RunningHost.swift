import Foundation
import Hummingbird
import Logging
import OutgoingHTTP
import Primitives

@testable import ServiceKit

/// Settings that are complete for a service without needs.
let plainVariables = [
    "PORT": "0", "HOST": "127.0.0.1", "INTERNAL_PORT": "0", "INTERNAL_TOKEN": "an-internal-token-of-a-test",
]

/// What a client got.
struct Answer: Sendable {
    let status: Int
    let headers: [HTTPHeader]
    let body: String

    /// The first value of a header.
    func header(_ name: String) -> String? { self.headers.values(of: name).first }

    /// The first JSON:API error.
    var error: (code: String?, pointer: String?, id: String?) {
        guard let document = try? StrictJSONParser.parse(Array(self.body.utf8)),
            case .array(let errors) = document["errors"], let first = errors.first
        else { return (nil, nil, nil) }
        return (first["code"]?.string, first["source"]?["pointer"]?.string, first["id"]?.string)
    }
}

/// A service that runs, and a client for it.
struct RunningHost: Sendable {
    let host: ServiceHost
    let client: HTTPClient
    let publicURL: String
    let internalURL: String

    func send(
        _ method: HTTPMethod,
        _ url: String,
        body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        var call = HTTPCall(method, url, headers: headers.map { ($0.key, $0.value) })
        if let body {
            call.body = Array(body.utf8)
            if headers["Content-Type"] == nil { call.headers.append(("Content-Type", "application/json")) }
        }
        let answer = try await self.client.send(call, within: .seconds(20))
        return Answer(
            status: answer.status,
            headers: answer.headers,
            body: String(decoding: answer.body, as: UTF8.self)
        )
    }

    func get(_ path: String, headers: [String: String] = [:]) async throws -> Answer {
        try await self.send(.get, self.publicURL + path, headers: headers)
    }

    func post(_ path: String, _ body: String, headers: [String: String] = [:]) async throws -> Answer {
        try await self.send(.post, self.publicURL + path, body: body, headers: headers)
    }

    /// Asks the internal port with its token.
    func inside(_ method: HTTPMethod, _ path: String, body: String? = nil) async throws -> Answer {
        let token = self.host.settings.internalServer.tokens.current
        return try await self.send(
            method,
            self.internalURL + path,
            body: body,
            headers: ["Authorization": "Bearer \(token)"]
        )
    }
}

/// Runs a service without needs on free ports, gives it to `body`, and stops it.
func withRunningHost<Value: Sendable>(
    variables: [String: String] = [:],
    clock: AdjustableClock = AdjustableClock(),
    queries: RouteQueries = RouteQueries(),
    routes: (Router<AppRequestContext>) -> Void,
    internalRoutes: @escaping ServiceParts.InternalRoutes = { _ in },
    guardedRoutes: GuardedRoutes? = nil,
    _ body: @Sendable (RunningHost) async throws -> Value
) async throws -> Value {
    let reader = SettingsReader(plainVariables.merging(variables) { $1 })
    let settings = try ServiceSettings(service: "test", needs: [], reader: reader)
    let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let host = try ServiceHost(settings: settings, logger: quiet, clock: clock)
    let router = host.router()
    routes(router)
    let parts = ServiceParts(
        router: router,
        queries: queries,
        guardedRoutes: guardedRoutes,
        internalRoutes: internalRoutes
    )
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await host.run(parts, signals: []) }
        let running = RunningHost(
            host: host,
            client: HTTPClient(),
            publicURL: "http://127.0.0.1:\(await host.publicPort.value)",
            internalURL: "http://127.0.0.1:\(await host.internalPort.value)"
        )
        defer { group.cancelAll() }
        return try await body(running)
    }
}

/// Serves what a closure says under `/keys`, and counts how often it was asked.
func withKeyServer<Value: Sendable>(
    _ document: @escaping @Sendable (_ request: Int) -> String?,
    _ body: @Sendable (_ url: String, _ count: @Sendable () -> Int) async throws -> Value
) async throws -> Value {
    let counter = Counter()
    return try await withRunningHost(
        routes: { router in
            router.get("/keys") { _, _ in
                guard let text = document(counter.next()) else { throw APIError.unavailable() }
                return APIResponse(.ok, body: Array(text.utf8))
            }
        },
        { running in try await body(running.publicURL + "/keys", { counter.value }) }
    )
}
