import Contracts
import EventLoops
import Foundation
import OutgoingHTTP
import TestSupport

/// What came back.
struct Reply: Sendable {
    let status: Int
    let body: Data
    let headers: [HTTPHeader]

    /// The first value of a header.
    func header(_ name: String) -> String? { self.values(of: name).first }

    func values(of name: String) -> [String] { self.headers.values(of: name) }

    /// The members of a header that is a list.
    func listed(_ name: String) -> [String] {
        self.values(of: name).flatMap { $0.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    var contentType: String { self.header("Content-Type") ?? "" }
    var isReplay: Bool { self.header("Idempotency-Replayed") == "true" }

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
        var call = HTTPCall(HTTPMethod(rawValue: method), url, headers: headers.map { ($0.key, $0.value) })
        if !body.isEmpty {
            if headers["Content-Type"] == nil { call.headers.append(("Content-Type", "application/json")) }
            call.body = body
        }
        return try await self.send(call)
    }

    /// Sends a request as it is.
    func send(_ call: HTTPCall) async throws -> Reply {
        var call = call
        call.longestAnswer = 8 * 1024 * 1024
        let answer = try await self.http.send(call, within: .seconds(30), patience: .zero)
        return Reply(status: answer.status, body: Data(answer.body), headers: answer.headers)
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
    func operate(
        _ method: String,
        _ service: String,
        _ path: String,
        _ json: String = "",
        by name: String = RunningSuite.operatorName
    ) async throws -> Reply {
        try await self.send(
            method,
            self.environment.internalURL(service) + path,
            headers: [
                "Authorization": "Bearer \(self.environment.internalToken)", "Transfa-Operator": name,
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
