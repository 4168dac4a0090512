public import Foundation
import Postgres
import Primitives

/// An act of an operator, as the audit has it.
public struct AuditedAct: Sendable, Encodable {
    /// Its place in the chain, from 1.
    public let number: Int64
    /// When.
    public let happenedAt: Date
    /// Who, or several.
    public let actor: String
    /// What.
    public let act: String
    /// To what.
    public let subject: String
    /// Why.
    public let reason: String?
    /// What it was like: JSON, byte for byte as it was hashed.
    public let before: String?
    /// What it is like since: JSON, byte for byte as it was hashed.
    public let after: String?
    /// The request it came with.
    public let requestID: String?
    /// SHA-256 of this act and the hash of the one before, in hexadecimal.
    public let hash: String

    private enum CodingKeys: String, CodingKey {
        case number
        case happenedAt = "happened_at"
        case actor
        case act
        case subject
        case reason
        case before
        case after
        case requestID = "request_id"
        case hash
    }
}

/// How the chain of acts stands.
public struct AuditCheck: Sendable, Encodable {
    /// What is wrong at one place.
    public struct Problem: Sendable, Encodable {
        /// The rule that does not hold.
        public let name: String
        /// Where.
        public let detail: String
    }

    /// How many acts there are.
    public let acts: Int64
    /// The hash of the last one: who has kept it elsewhere notices a chain that was written anew.
    public let head: String
    /// What is wrong; nothing, when the chain is whole.
    public let problems: [Problem]
}

/// What the audit of a service says.
extension MessagingOperations {
    /// Acts of operators, the newest first.
    ///
    /// - Parameters:
    ///   - subject: Only those about this; nil for all.
    ///   - number: Only those before this one in the chain.
    ///   - limit: How many at the most.
    /// - Returns: The acts.
    /// - Throws: `PostgresError`.
    public func audit(about subject: String?, before number: Int64, limit: Int) async throws -> [AuditedAct] {
        let rows = try await self.database.client.query(
            """
            SELECT number, happened_at, actor, act, subject, reason, before, after, request_id, encode(hash, 'hex')
            FROM audit_log
            WHERE (\(subject)::text IS NULL OR subject = \(subject)) AND number < \(number)
            ORDER BY number DESC LIMIT \(Int64(limit))
            """
        )
        return try rows.map { row in
            let (number, moment, actor, act, subject, reason, before, after, request, hash) = try row.decode(
                Int64.self,
                Date.self,
                String.self,
                String.self,
                String.self,
                String?.self,
                String?.self,
                String?.self,
                UUID?.self,
                String.self
            )
            return AuditedAct(
                number: number,
                happenedAt: moment,
                actor: actor,
                act: act,
                subject: subject,
                reason: reason,
                before: before,
                after: after,
                requestID: request?.lowercased,
                hash: hash
            )
        }
    }

    /// Whether the chain of acts is whole: every hash is computed again.
    public func auditCheck() async throws -> AuditCheck {
        let problems = try await self.database.client.query("SELECT name, detail FROM check_audit()").map { row in
            let (name, detail) = try row.decode(String.self, String.self)
            return AuditCheck.Problem(name: name, detail: detail)
        }
        let head = try await self.database.client.query("SELECT number, encode(hash, 'hex') FROM audit_head")
        let none: (Int64, String) = (0, "")
        let (acts, hash) = try head.first?.decode(Int64.self, String.self) ?? none
        return AuditCheck(acts: acts, head: hash, problems: problems)
    }
}
