import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Primitives

/// Makes requests.
struct Caller: Sendable {
    private static let longestAnswer = 8 * 1024 * 1024
    private static let deadline = TimeAmount.seconds(15)

    let endpoints: Endpoints
    private let http: HTTPClient

    /// Gives `body` a caller whose connections are closed at the end.
    static func with<Result>(_ endpoints: Endpoints, _ body: (Caller) async -> Result) async throws -> Result {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // Nobody listening is an answer that need not be asked for again.
        configuration.connectionPool.retryConnectionEstablishment = false
        return try await HTTPClient.withHTTPClient(configuration: configuration) { http in
            await body(Caller(endpoints: endpoints, http: http))
        }
    }

    /// Sends one request, once.
    ///
    /// - Throws: `Failure` when nobody answers in time; every status is an answer.
    func send(_ call: Call) async throws(Failure) -> Answer {
        let address = try self.endpoints.address(of: call.destination)
        var request = HTTPClientRequest(url: address + call.path)
        request.method = HTTPMethod(rawValue: call.method)
        for (name, value) in call.headers { request.headers.add(name: name, value: value) }
        if case .internalPort = call.destination {
            request.headers.add(name: "Authorization", value: "Bearer \(try self.endpoints.internalToken)")
        }
        if !call.body.isEmpty {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: call.body))
        }
        do {
            let response = try await self.http.execute(request, timeout: Self.deadline)
            let body = try await response.body.collect(upTo: Self.longestAnswer)
            return Answer(
                status: Int(response.status.code),
                requestID: response.headers.first(name: "X-Request-Id").flatMap { UUID(text: $0) },
                isReplay: response.headers.first(name: "Idempotency-Replayed") == "true",
                body: Array(body.readableBytesView),
                nextCursor: response.headers.first(name: "Transfa-Next"),
                line: call.line
            )
        } catch {
            throw Failure("\(call.line) got no answer from \(address), see the log of that service (\(error)).")
        }
    }
}
