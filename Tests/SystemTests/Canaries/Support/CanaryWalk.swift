import Contracts
import EventLoops
import Foundation
import Primitives
import Sealing
import TestSupport

/// Somebody who uses everything, well and badly, with data that can be told from all other.
final class CanaryWalk: Sendable {
    private struct Notes {
        var refusals: [String] = []
        var secrets: Set<Canary> = []
    }

    let suite: RunningSuite
    let canaries = WalkCanaries()
    private let notes = Locked(Notes())

    init(_ suite: RunningSuite) { self.suite = suite }

    /// The answers that were refusals, errors of the services included.
    var refusals: [String] { self.notes.withLock { $0.refusals } }
    /// Tokens, signatures and hashes that came up.
    var secrets: [Canary] { self.notes.withLock { Array($0.secrets) } }

    var subject: String { "user_system_\(self.canaries.username)" }

    func note(_ name: String, _ secret: some StringProtocol, isGuessable: Bool = false) {
        let canary = Canary(name: name, text: String(secret), isGuessable: isGuessable)
        _ = self.notes.withLock { $0.secrets.insert(canary) }
    }

    /// Notes the part of a token that makes it one, and its claims.
    func note(token: String, _ name: String) {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return }
        self.note("claims of \(name)", parts[1])
        self.note("signature of \(name)", parts[2])
    }

    // MARK: Sending

    /// Sends a request under a key of its own, and keeps the answer if it is a refusal.
    @discardableResult
    func send(
        _ method: String,
        _ service: ServiceName,
        _ path: String,
        _ body: [UInt8] = [],
        as subject: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Reply {
        let token = try await self.suite.token(of: subject ?? self.subject)
        self.note(token: token, "a session token")
        var all = ["Idempotency-Key": "walk-\(UUID().lowercased)", "Authorization": "Bearer \(token)"]
        all.merge(headers) { $1 }
        return try await self.send(method, self.suite.environment.publicURL(service.rawValue) + path, all, body)
    }

    /// Sends a request as it is.
    @discardableResult
    func send(_ method: String, _ url: String, _ headers: [String: String], _ body: [UInt8]) async throws -> Reply {
        let reply = try await self.suite.send(method, url, headers: headers, body: body)
        if reply.status >= 400 { self.notes.withLock { $0.refusals.append("\(method) \(reply.status) \(reply.text)") } }
        return reply
    }

    /// Sends an order that is approved by the phone.
    @discardableResult
    func order(_ path: String, _ body: some Encodable, as person: Person) async throws -> Reply {
        let bytes = try RunningSuite.json(body)
        let approval = try PaymentOrder.approve(bytes, by: person, path: path)
        if let signature = approval.split(separator: " ").last { self.note("signature of a phone", signature) }
        return try await self.send(
            "POST",
            .transaction,
            path,
            bytes,
            as: person.subject,
            headers: [ApprovalHeader.name: approval]
        )
    }

    /// Sends something that must be taken.
    func must(_ what: String, _ reply: Reply, _ statuses: Set<Int> = [200, 201, 202, 204]) throws -> Reply {
        guard statuses.contains(reply.status) else { throw TestFailure("\(what): \(reply.status) \(reply.text)") }
        return reply
    }

    /// A body with bad words in every field of a good one.
    static func spoiled(_ body: some Encodable, by word: String) throws -> [[UInt8]] {
        let good = String(decoding: try RunningSuite.json(body), as: UTF8.self)
        let values = try Regex(#""([a-z_0-9]+)":("[^"]*"|[0-9]+)"#)
        return good.matches(of: values).flatMap { match -> [[UInt8]] in
            let name = String(match.output[1].substring ?? "")
            return [#""\#(word)\u0000""#, #"{"\#(word)":"\#(word)"}"#, #""\#(String(repeating: word, count: 200))""#]
                .map {
                    Array(good.replacingCharacters(in: match.range, with: #""\#(name)":\#($0)"#).utf8)
                }
        } + [Array((good.dropLast() + #","\#(word)":"#).utf8), Array(#"["\#(word)"]"#.utf8), Array(word.utf8)]
    }
}
