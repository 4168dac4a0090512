import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `disputes`.
struct DisputeStore: Sendable {
    /// A person's own, by row level security.
    let client: PostgresClient
    /// Everybody's, for operators.
    let workers: PostgresClient

    // MARK: The person

    /// - Throws: `DisputeRefusal`.
    func open(
        _ id: UUID,
        of transfer: UUID,
        by user: UserID,
        _ reason: DisputeDraft.Reason,
        sealedText: String,
        in transaction: EventTransaction
    ) async throws -> Dispute {
        let rows = try await transaction.query(
            "SELECT open_dispute(\(id), \(transfer), \(user.uuid), \(reason.rawValue), \(sealedText))"
        )
        guard let outcome = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        guard outcome == "opened" else {
            throw DisputeRefusal(rawValue: outcome) ?? LedgerContradiction() as any Error
        }
        let row = try await transaction.query("SELECT \(Self.columns) FROM disputes WHERE id = \(id)").first
        guard let row else { throw LedgerContradiction() }
        return try Self.decode(row)
    }

    /// A person's disputes of one transfer, the newest first; there are five at most.
    func disputes(of transfer: UUID, by user: UserID) async throws -> [Dispute] {
        try await self.client.query(
            """
            SELECT \(Self.columns) FROM disputes WHERE user_id = \(user.uuid) AND transfer_id = \(transfer)
            ORDER BY position DESC
            """,
            as: user.uuid
        ).map(Self.decode)
    }

    // MARK: Operators

    /// Which disputes are asked for.
    enum Filter: String, Sendable, CaseIterable {
        /// Those that wait for something, the most urgent first.
        case pending
        case closed
    }

    func list(_ filter: Filter, limit: Int) async throws -> [Dispute] {
        let order: SQL =
            filter == .pending
            ? "WHERE state <> 'closed' ORDER BY due_at, position" : "WHERE state = 'closed' ORDER BY position DESC"
        return try await self.workers.query("SELECT \(Self.columns) FROM disputes \(order) LIMIT \(Int64(limit))")
            .map(Self.decode)
    }

    /// How many are not closed, and how many of them wait for an answer after their time.
    func counts() async throws -> (open: Int64, overdue: Int64) {
        let rows = try await self.workers.query(
            """
            SELECT count(*), count(*) FILTER (WHERE state = 'open' AND due_at <= transfa_now())
            FROM disputes WHERE state <> 'closed'
            """
        )
        guard let (open, overdue) = try rows.first?.decode(Int64.self, Int64.self) else { return (0, 0) }
        return (open, overdue)
    }

    func find(_ id: UUID) async throws -> Dispute? {
        try await self.workers.query("SELECT \(Self.columns) FROM disputes WHERE id = \(id)").first.map(Self.decode)
    }

    /// What a dispute was like when it was locked, and what it is like now.
    typealias Change = (before: Dispute, after: Dispute)

    /// Answers; a later answer replaces an earlier one.
    ///
    /// - Throws: `DisputeRefusal`.
    func answer(_ id: UUID, sealedText: String, in transaction: EventTransaction) async throws -> Change {
        try await self.change(
            id,
            "state = 'answered', answer = \(sealedText), answered_at = \(transaction.now)",
            in: transaction
        )
    }

    /// - Throws: `DisputeRefusal`.
    func close(_ id: UUID, _ outcome: DisputeEnd, in transaction: EventTransaction) async throws -> Change {
        try await self.change(
            id,
            "state = 'closed', outcome = \(outcome.rawValue), closed_at = \(transaction.now)",
            in: transaction
        )
    }

    private func change(_ id: UUID, _ columns: SQL, in transaction: EventTransaction) async throws -> Change {
        let found = try await transaction.query(
            "SELECT \(Self.columns) FROM disputes WHERE id = \(id) FOR NO KEY UPDATE"
        )
        guard let before = try found.first.map(Self.decode) else { throw DisputeRefusal.unknown }
        guard before.state != "closed" else { throw DisputeRefusal.closed }
        let changed = try await transaction.query(
            "UPDATE disputes SET \(columns) WHERE id = \(id) RETURNING \(Self.columns)"
        )
        guard let row = changed.first else { throw LedgerContradiction() }
        return (before, try Self.decode(row))
    }

    // MARK: Rows

    private static let columns: SQL = """
        id, transfer_id, user_id, reason, description, state, opened_at, due_at, answer, answered_at,
        outcome, closed_at
        """

    private static func decode(_ row: PostgresRow) throws -> Dispute {
        let (id, transfer, user, reason, text, state, opened, due, answer, answered, outcome, closed) =
            try row.decode(
                UUID.self,
                UUID.self,
                UUID.self,
                String.self,
                String.self,
                String.self,
                Date.self,
                Date.self,
                String?.self,
                Date?.self,
                String?.self,
                Date?.self
            )
        return Dispute(
            id: id,
            transaction: transfer,
            user: user,
            reason: reason,
            description: text,
            state: state,
            openedAt: opened,
            dueAt: due,
            answer: answer,
            answeredAt: answered,
            outcome: outcome,
            closedAt: closed
        )
    }
}
