public import Foundation
import Postgres
public import Primitives

/// An operator who acts, and why: every act of one stands in the audit with both.
public struct OperatorOrder: Sendable, Hashable {
    /// Who acts.
    public let name: String
    /// Why, in the operator's own words.
    public let reason: String
    /// The request it came with.
    public let request: UUID?

    /// Puts an order together; both texts must say something.
    public init(name: String, reason: String, request: UUID? = nil) {
        precondition(!name.isEmpty && !reason.isEmpty, "an act has somebody who does it, and a reason")
        self.name = name
        self.reason = reason
        self.request = request
    }
}

extension EventTransaction {
    /// Writes down what an operator does, in the transaction that does it.
    ///
    /// Only as worker. Last of all statements: the end of the chain stays locked until the commit, and other operators
    /// wait for it.
    ///
    /// - Parameters:
    ///   - act: What is done, such as `job.cancelled`.
    ///   - subject: What it is done to.
    ///   - before: What it was like, without personal data.
    ///   - after: What it is like now, without personal data.
    ///   - order: Who does it and why.
    /// - Throws: `PostgresError`.
    public func record(
        _ act: String,
        on subject: String,
        before: (any Encodable & Sendable)? = nil,
        after: (any Encodable & Sendable)? = nil,
        by order: OperatorOrder
    ) async throws {
        let (before, after) = (try before.map { try self.json($0) }, try after.map { try self.json($0) })
        try await self.query(
            """
            SELECT record_act(\(order.name), \(act), \(subject), \(order.reason), \(before), \(after),
                \(order.request), \(self.now))
            """
        )
    }
}

extension EventTransaction {
    /// Writes down what an operator does to a user.
    public func record(
        _ act: String,
        on user: UserID,
        before: (any Encodable & Sendable)? = nil,
        after: (any Encodable & Sendable)? = nil,
        by order: OperatorOrder
    ) async throws {
        try await self.record(act, on: user.description, before: before, after: after, by: order)
    }
}
