import Foundation
import Postgres
import Primitives

/// Reads statements from the ledger, as the user: row level security shows nobody else's wallet.
struct StatementStore: Sendable {
    let client: PostgresClient

    /// Finds begin and end, in one statement and so at one moment of the ledger; nil without a wallet.
    ///
    /// Entries never change: lines between the two can be read later and will fit. The numbers are found first: under
    /// row level security the planner would look for them anew at every entry of the wallet.
    ///
    /// Later pages name the entry at which the first page ended: the statement stays that of its moment.
    func statement(
        _ period: LagosPeriod,
        of user: UserID,
        endingAt last: Int64? = nil
    ) async throws -> Statement? {
        let rows = try await self.client.query(
            """
            WITH x AS MATERIALIZED (
                SELECT w.account_id, last_entry_before(w.account_id, \(period.begin)) AS before,
                    coalesce(\(last)::bigint, last_entry_before(w.account_id, \(period.end))) AS last
                FROM wallets w WHERE w.user_id = \(user.uuid)
            )
            SELECT x.account_id, x.before, x.last,
                coalesce((SELECT e.balance_after FROM entries e
                    WHERE e.account_id = x.account_id AND e.sequence = x.before), 0),
                coalesce((SELECT e.balance_after FROM entries e
                    WHERE e.account_id = x.account_id AND e.sequence = x.last), 0)
            FROM x
            """,
            as: user.uuid
        )
        guard let row = rows.first else { return nil }
        let (account, before, last, opening, closing) =
            try row.decode(Int64.self, Int64.self, Int64.self, Int64.self, Int64.self)
        return Statement(
            account: account,
            before: before,
            last: last,
            opening: Money(kobo: opening),
            closing: Money(kobo: closing)
        )
    }

    /// The lines after one of them, oldest first.
    func lines(
        of statement: Statement,
        after sequence: Int64,
        limit: Int,
        for user: UserID
    ) async throws -> [StatementLine] {
        try await self.client.query(
            """
            SELECT e.sequence, e.posted_at, e.leg, t.type,
                CASE WHEN t.sender_id = \(user.uuid) THEN t.recipient_id ELSE t.sender_id END,
                t.reference, e.transfer_id, e.amount, e.balance_after
            FROM entries e JOIN transfers t ON t.id = e.transfer_id
            WHERE e.account_id = \(statement.account) AND e.sequence > \(max(sequence, statement.before))
                AND e.sequence <= \(statement.last)
            ORDER BY e.sequence LIMIT \(Int64(limit))
            """,
            as: user.uuid
        ).map { row in
            let (sequence, posted, leg, type, other, reference, transfer, amount, balance) =
                try row.decode(
                    Int64.self,
                    Date.self,
                    String.self,
                    String.self,
                    UUID?.self,
                    String.self,
                    UUID.self,
                    Int64.self,
                    Int64.self
                )
            return StatementLine(
                sequence: sequence,
                postedAt: posted,
                leg: leg,
                type: type,
                counterparty: other,
                reference: reference,
                transfer: transfer,
                amount: Money(kobo: amount),
                balance: Money(kobo: balance)
            )
        }
    }
}
