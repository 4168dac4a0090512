import Foundation
import Postgres

/// A difference between the books as operators see it.
struct ReconciliationBreak: Sendable, Encodable, Equatable {
    let id: Int64
    let account: String
    let userID: UUID?
    let kind: String
    let key: String
    let ours: String?
    let theirs: String?
    /// `suspected`, until it is found again; then `open`.
    let state: String
    let firstSeen: Date
    let lastSeen: Date
    let note: String?

    private enum CodingKeys: String, CodingKey {
        case id
        case account
        case userID = "user_id"
        case kind
        case key
        case ours
        case theirs
        case state
        case firstSeen = "first_seen"
        case lastSeen = "last_seen"
        case note
    }
}

/// How many breaks of a kind are open, and since when.
struct BreakCount: Sendable, Equatable {
    let kind: String
    let count: Int64
    /// Seconds since the oldest of them was first seen.
    let oldestAge: Double
}

extension ReconciliationStore {
    /// What differs, the oldest first, on one account or on all.
    func breaks(of account: String?, limit: Int) async throws -> [ReconciliationBreak] {
        let rows = try await self.client.query(
            """
            SELECT b.id, b.account, u.id, b.kind, b.key, b.ours, b.theirs,
                CASE WHEN b.opened_at IS NULL THEN 'suspected' ELSE 'open' END, b.first_seen, b.last_seen, b.note
            FROM reconciliation_breaks b LEFT JOIN users u ON u.provider_account = b.account
            WHERE b.resolved_at IS NULL AND (\(account)::text IS NULL OR b.account = \(account))
            ORDER BY b.first_seen, b.id LIMIT \(Int64(limit))
            """
        )
        return try rows.map { row in
            let (id, account, user, kind, key, ours, theirs, state, first, last, note) = try row.decode(
                Int64.self,
                String.self,
                UUID?.self,
                String.self,
                String.self,
                String?.self,
                String?.self,
                String.self,
                Date.self,
                Date.self,
                String?.self
            )
            return ReconciliationBreak(
                id: id,
                account: account,
                userID: user,
                kind: kind,
                key: key,
                ours: ours,
                theirs: theirs,
                state: state,
                firstSeen: first,
                lastSeen: last,
                note: note
            )
        }
    }

    /// How many accounts were asked for and not looked at since.
    func waiting(for account: String?) async throws -> Int64 {
        try await self.client.query(
            """
            SELECT count(*) FROM reconciled_accounts
            WHERE (looked_at IS NULL OR looked_at < asked_at) AND (\(account)::text IS NULL OR account = \(account))
            """
        ).first?.decode(Int64.self) ?? 0
    }

    /// Open breaks by kind.
    func openBreaks() async throws -> [BreakCount] {
        let rows = try await self.client.query(
            """
            SELECT kind, count(*), extract(epoch FROM transfa_now() - min(first_seen))::float8
            FROM reconciliation_breaks WHERE resolved_at IS NULL AND opened_at IS NOT NULL GROUP BY kind
            """
        )
        return try rows.map { row in
            let (kind, count, age) = try row.decode(String.self, Int64.self, Double.self)
            return BreakCount(kind: kind, count: count, oldestAge: age)
        }
    }
}
