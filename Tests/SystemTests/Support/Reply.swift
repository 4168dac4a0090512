import AsyncHTTPClient
import Contracts
import EventLoops
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// What came back.
struct Reply: Sendable {
    let status: Int
    let body: Data
    let headers: HTTPHeaders

    var contentType: String { self.headers.first(name: "Content-Type") ?? "" }
    var isReplay: Bool { self.headers.first(name: "Idempotency-Replayed") == "true" }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: self.body)
        } catch {
            throw TestFailure("a \(type) was expected, \(self.status) came: \(self.text.prefix(600))")
        }
    }

    var text: String { String(decoding: self.body, as: UTF8.self) }

    /// The first error of a JSON:API body.
    var error: Problem? { (try? JSONDecoder().decode(Problems.self, from: self.body))?.errors.first }

    struct Problem: Decodable, Sendable {
        struct Source: Decodable, Sendable {
            let pointer: String?
            let header: String?
            let parameter: String?
        }

        let id: String?
        let status: String
        let code: String
        let title: String
        let detail: String?
        let source: Source?
    }

    private struct Problems: Decodable {
        let errors: [Problem]
    }
}

extension RunningSuite {
    /// Sends a request, once; every status is an answer.
    func send(
        _ method: String,
        _ url: String,
        headers: [String: String] = [:],
        body: [UInt8] = []
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if !body.isEmpty {
            if headers["Content-Type"] == nil { request.headers.add(name: "Content-Type", value: "application/json") }
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return try await self.send(request)
    }

    /// Sends a request as it is.
    func send(_ request: HTTPClientRequest) async throws -> Reply {
        let response = try await self.http.execute(request, timeout: .seconds(30))
        let bytes = try await response.body.collect(upTo: 8 * 1024 * 1024)
        return Reply(
            status: Int(response.status.code),
            body: Data(bytes.readableBytesView),
            headers: response.headers
        )
    }

    /// A call of the sandbox's control API.
    @discardableResult
    func sandbox(_ method: String, _ path: String, _ json: String = "") async throws -> Reply {
        try await self.send(method, self.environment.publicURL(SuiteEnvironment.sandbox) + path, body: Array(json.utf8))
    }

    /// Who operates the suite in tests.
    static let operatorName = "grace"

    /// A call of a service's internal port, in the name of an operator.
    @discardableResult
    func operate(_ method: String, _ service: String, _ path: String, _ json: String = "") async throws -> Reply {
        try await self.send(
            method,
            self.environment.internalURL(service) + path,
            headers: [
                "Authorization": "Bearer \(self.environment.internalToken)", "Transfa-Operator": Self.operatorName,
            ],
            body: Array(json.utf8)
        )
    }

    /// A call in a person's name.
    func call(
        _ method: String,
        _ service: ServiceName,
        _ path: String,
        as subject: String,
        headers: [String: String] = [:],
        body: [UInt8] = []
    ) async throws -> Reply {
        let token = try await self.token(of: subject)
        return try await self.send(
            method,
            self.environment.publicURL(service.rawValue) + path,
            headers: headers.merging(["Authorization": "Bearer \(token)"]) { $1 },
            body: body
        )
    }

    // MARK: Tokens

    private struct Token: Decodable {
        let jwt: String
    }

    /// A good session token, which outlives any leap of the services' clocks that a request may meet.
    func token(of subject: String) async throws -> String {
        let known = self.tokens.withLock { $0[subject] }
        if let known, known.since.duration(to: .now) < .seconds(40) { return known.text }
        let lifetime = 3600 + self.clockOffset.withLock { $0 }
        let text = try await self.token(of: subject, more: #","lifetime_seconds":\#(lifetime)"#)
        self.tokens.withLock { $0[subject] = (text, .now) }
        return text
    }

    /// A session token that differs from a good one by further members, each with its leading comma.
    func token(of subject: String, more: String, azp: String = SuiteEnvironment.authorizedParty) async throws -> String
    {
        let order = #"{"subject":"\#(subject)","azp":"\#(azp)"\#(more)}"#
        return try await self.sandbox("POST", "/sandbox/clerk/tokens", order).decode(Token.self).jwt
    }
}
