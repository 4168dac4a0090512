import Contracts
import Foundation
import Messaging
import Postgres

/// Money that waits in suspense, as operators see it.
struct SuspendedMoney: Sendable, Encodable {
    /// What an operator wants done with it.
    struct Release: Sendable, Encodable, Equatable {
        let id: UUID
        let disposition: String
        let reason: String
        let proposedBy: String

        private enum CodingKeys: String, CodingKey {
            case id
            case disposition
            case reason
            case proposedBy = "proposed_by"
        }
    }

    let id: UUID
    let type: String
    let userID: UUID?
    let amount: Int64
    let since: Date
    let release: Release?

    private enum CodingKeys: String, CodingKey {
        case id
        case type
        case userID = "user_id"
        case amount
        case since
        case release
    }
}

/// Money in suspense and what two operators do with it; as worker, for no user's request comes here.
struct SuspenseStore: Sendable {
    /// Where the money goes.
    enum Disposition: String, Sendable, Decodable {
        case credit
        case giveBack = "return"
    }

    let client: PostgresClient

    /// What waits, the oldest first.
    func waiting(limit: Int) async throws -> [SuspendedMoney] {
        let rows = try await self.client.query(
            """
            SELECT t.id, t.type, t.recipient_id, t.amount, t.created_at, r.id, r.disposition, r.reason, r.proposed_by
            FROM transactions t
            LEFT JOIN suspense_releases r ON r.transaction_id = t.id AND r.state = 'proposed'
            WHERE t.route_reason = 'suspense' AND t.state = 'completed' ORDER BY t.id LIMIT \(Int64(limit))
            """
        )
        return try rows.map { row in
            let (id, type, user, amount, since, release, disposition, reason, proposer) = try row.decode(
                UUID.self,
                String.self,
                UUID?.self,
                Int64.self,
                Date.self,
                UUID?.self,
                String?.self,
                String?.self,
                String?.self
            )
            return SuspendedMoney(
                id: id,
                type: type,
                userID: user,
                amount: amount,
                since: since,
                release: release.map {
                    SuspendedMoney.Release(
                        id: $0,
                        disposition: disposition ?? "",
                        reason: reason ?? "",
                        proposedBy: proposer ?? ""
                    )
                }
            )
        }
    }

    /// Proposes a release; `proposed`, or why not.
    func propose(
        _ release: UUID,
        of money: UUID,
        _ disposition: Disposition,
        reason: String,
        by operator: String,
        in transaction: EventTransaction
    ) async throws -> String {
        try await Self.word(
            transaction.query(
                """
                SELECT propose_release(\(release), \(money), \(disposition.rawValue), \(reason), \(`operator`),
                    \(transaction.cause.correlationID))
                """
            )
        )
    }

    /// Approves or rejects what another operator proposed; `approved`, `rejected`, or why not.
    func decide(
        _ release: UUID,
        approve: Bool,
        by operator: String,
        in transaction: EventTransaction
    ) async throws -> String {
        try await Self.word(
            transaction.query(
                "SELECT decide_release(\(release), \(`operator`), \(approve), \(transaction.cause.correlationID))"
            )
        )
    }

    private static func word(_ rows: [PostgresRow]) throws -> String {
        guard let word = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        return word
    }
}
