import Contracts
import Foundation
import Messaging
import Postgres

/// A pattern that people should look at.
struct Signal: Sendable, Encodable {
    let id: UUID
    let userID: UUID
    let kind: String
    let detail: [String: Int64]
    let firstSeen: Date
    let lastSeen: Date

    private enum CodingKeys: String, CodingKey {
        case id
        case userID = "user_id"
        case kind
        case detail
        case firstSeen = "first_seen"
        case lastSeen = "last_seen"
    }
}

/// The table `signals`, which a schedule fills and operators clear.
struct SignalStore: Sendable {
    /// The newest transfers that are looked at.
    private static let newest: Int32 = 50_000

    /// Writes down what stands out among the newest transfers.
    func note(in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT note_signals(\(Self.newest))")
    }

    /// Those nobody has looked at, the oldest first.
    func open(limit: Int, on database: EventDatabase) async throws -> [Signal] {
        try await database.client.query(
            """
            SELECT id, user_id, kind, detail, first_seen, last_seen FROM signals WHERE state = 'open'
            ORDER BY first_seen, id LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, user, kind, detail, first, last) = try row.decode(
                UUID.self,
                UUID.self,
                String.self,
                String.self,
                Date.self,
                Date.self
            )
            return Signal(
                id: id,
                userID: user,
                kind: kind,
                detail: try JSONDecoder().decode([String: Int64].self, from: Data(detail.utf8)),
                firstSeen: first,
                lastSeen: last
            )
        }
    }

    /// Notes who has looked, and what they found: `cleared`, or why not.
    func clear(
        _ signal: UUID,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> String {
        let rows = try await transaction.query(
            "SELECT clear_signal(\(signal), \(order.name), \(order.reason), \(transaction.cause.correlationID))"
        )
        guard let word = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        return word
    }
}
