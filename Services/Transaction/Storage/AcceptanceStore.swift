import Foundation
import Postgres
import Primitives

/// An order that waits to be accepted, with everything the database needs to decide and to answer.
struct AcceptanceItem: Sendable {
    let transaction: UUID
    let sender: UserID
    let order: Order
    /// What the person wrote, sealed with their key.
    let sealedText: String?
    let route: String
    let key: String
    let requestHash: [UInt8]
    let nonce: UUID
    /// Nil for an approval by PIN.
    let device: UUID?
    /// Ids for the events it may cause.
    let createdEvent: UUID
    let reroutedEvent: UUID
    let slotEvent: UUID
    let correlation: UUID?
    let traceparent: String?
    /// What the quote said that the order names.
    var quote: QuoteTerms?
}

/// How one payment of a batch was answered: a finished HTTP answer.
struct AcceptanceAnswer: Sendable, Equatable {
    let outcome: String
    let status: Int
    let body: String

    /// Whether money is held now because of this very call.
    var isAccepted: Bool { self.outcome == "accepted" }
    /// Whether the answer was given before.
    var isReplay: Bool { self.outcome == "idempotent_replay" }
}

/// Accepts batches of payments: one call of one database function.
struct AcceptanceStore: Sendable {
    let client: PostgresClient

    /// Each payment gets its own answer, in order.
    ///
    /// Repeating a batch after a lost connection is safe: the idempotency keys answer what was done.
    func accept(_ items: [AcceptanceItem]) async throws -> [AcceptanceAnswer] {
        let statement = try Self.statement(items)
        let rows = try await self.client.withConnection { connection in try await connection.commit(statement) }
        let answers = try rows.map { row in
            let (outcome, status, body) = try row.decode(String.self, Int32.self, String.self)
            return AcceptanceAnswer(outcome: outcome, status: Int(status), body: body)
        }
        precondition(answers.count == items.count, "accept_payments must answer every payment of its batch")
        return answers
    }

    private static func statement(_ items: [AcceptanceItem]) throws -> SQL {
        let details = try items.map { try $0.order.details(quote: $0.quote) }
        return """
            SELECT outcome, status, body FROM accept_payments(
                \(items.map(\.transaction))::uuid[], \(items.map(\.sender.uuid))::uuid[],
                \(items.map(\.order.recipient))::text[], \(items.map(\.order.amount.kobo))::bigint[],
                \(items.map(\.sealedText))::text[], \(items.map(\.route))::text[], \(items.map(\.key))::text[],
                \(items.map(\.requestHash))::bytea[], \(items.map(\.nonce))::uuid[], \(items.map(\.device))::uuid[],
                \(items.map(\.createdEvent))::uuid[], \(items.map(\.reroutedEvent))::uuid[],
                \(items.map(\.slotEvent))::uuid[], \(items.map(\.correlation))::uuid[],
                \(items.map(\.traceparent))::text[], \(items.map(\.order.type.rawValue))::text[],
                \(items.map(\.order.target))::uuid[], \(details)::text[]) ORDER BY ord
            """
    }

    /// The answer stored under a key, however old; nil when there is none.
    func storedAnswer(
        user: UserID,
        route: String,
        key: String
    ) async throws -> (hash: [UInt8], status: Int, body: String)? {
        let rows = try await self.client.query(
            "SELECT request_hash, status, body FROM stored_answer(\(user.uuid), \(route), \(key))"
        )
        return try rows.first.map { row in
            let (hash, status, body) = try row.decode([UInt8].self, Int32.self, String.self)
            return (hash, Int(status), body)
        }
    }
}
