import Contracts
import Foundation
import Messaging
import Postgres

/// What an operator found out about a break.
struct BreakNote: Sendable, Encodable, Equatable {
    let id: Int64
    let text: String
    let author: String
    let writtenAt: Date

    private enum CodingKeys: String, CodingKey {
        case id
        case text
        case author
        case writtenAt = "written_at"
    }
}

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
    /// The oldest first.
    var notes: [BreakNote] = []

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
        case notes
    }
}

/// How many breaks of a kind are open, and since when.
struct BreakCount: Sendable, Equatable {
    let kind: String
    let count: Int64
    /// Seconds since the oldest of them was first seen.
    let oldestAge: Double
}

/// How much of what the provider listed at the last looks an entry of ours explains.
struct MoneyExplained: Sendable, Encodable, Equatable {
    /// Kobo.
    let listed: Int64
    /// Kobo.
    let matched: Int64
    /// For how long the oldest of the rest has had none; nil when there is no rest.
    let oldestSeconds: Double?

    private enum CodingKeys: String, CodingKey {
        case listed
        case matched
        case oldestSeconds = "oldest_seconds"
    }
}

extension ReconciliationStore {
    /// How much is explained, of one account or of all.
    func explained(of account: String?) async throws -> MoneyExplained {
        let row = try await self.client.query(
            "SELECT listed, matched, oldest_seconds FROM explained_money(\(account))"
        ).first
        guard let row else { throw LedgerContradiction() }
        let (listed, matched, oldest) = try row.decode(Int64.self, Int64.self, Double?.self)
        return MoneyExplained(listed: listed, matched: matched, oldestSeconds: oldest)
    }

    /// What differs, the oldest first, on one account or on all.
    func breaks(of account: String?, limit: Int) async throws -> [ReconciliationBreak] {
        let rows = try await self.client.query(
            """
            SELECT b.id, b.account, u.id, b.kind, b.key, b.ours, b.theirs,
                CASE WHEN b.opened_at IS NULL THEN 'suspected' ELSE 'open' END, b.first_seen, b.last_seen
            FROM reconciliation_breaks b LEFT JOIN users u ON u.provider_account = b.account
            WHERE b.resolved_at IS NULL AND (\(account)::text IS NULL OR b.account = \(account))
            ORDER BY b.first_seen, b.id LIMIT \(Int64(limit))
            """
        )
        let notes = try await self.notes(on: try rows.map { try $0.decode(Int64.self) })
        return try rows.map { row in
            let (id, account, user, kind, key, ours, theirs, state, first, last) = try row.decode(
                Int64.self,
                String.self,
                UUID?.self,
                String.self,
                String.self,
                String?.self,
                String?.self,
                String.self,
                Date.self,
                Date.self
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
                notes: notes[id] ?? []
            )
        }
    }

    // MARK: Notes

    /// What became of a note.
    enum Noted: Sendable, Equatable {
        case written(BreakNote)
        /// There is no such break.
        case unknown
        /// A suspicion may pass, and would take its notes with it.
        case onlySuspected
    }

    private func notes(on breaks: [Int64]) async throws -> [Int64: [BreakNote]] {
        guard !breaks.isEmpty else { return [:] }
        let rows = try await self.client.query(
            """
            SELECT break_id, id, text, author, written_at FROM break_notes
            WHERE break_id = ANY (\(breaks)) ORDER BY id
            """
        )
        return try rows.reduce(into: [:]) { notes, row in
            let (id, note, text, author, moment) = try row.decode(
                Int64.self,
                Int64.self,
                String.self,
                String.self,
                Date.self
            )
            notes[id, default: []].append(BreakNote(id: note, text: text, author: author, writtenAt: moment))
        }
    }

    /// Writes a note down, and into the audit.
    func note(_ id: Int64, by order: OperatorOrder, in transaction: EventTransaction) async throws -> Noted {
        // What is open stays: no lock is needed.
        let found = try await transaction.query(
            "SELECT opened_at IS NOT NULL FROM reconciliation_breaks WHERE id = \(id)"
        )
        guard let isOpen = try found.first?.decode(Bool.self) else { return .unknown }
        guard isOpen else { return .onlySuspected }
        let rows = try await transaction.query(
            """
            INSERT INTO break_notes (break_id, text, author, written_at)
            VALUES (\(id), \(order.reason), \(order.name), \(transaction.now)) RETURNING id
            """
        )
        guard let note = try rows.first?.decode(Int64.self) else { throw LedgerContradiction() }
        try await transaction.record("break.noted", on: "break-\(id)", after: ["note": note], by: order)
        return .written(BreakNote(id: note, text: order.reason, author: order.name, writtenAt: transaction.now))
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
