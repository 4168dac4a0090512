import Foundation
import Messaging
import Postgres
import Primitives

/// Money drops: changed by database functions, read by whoever has the link.
struct MoneyDropStore: Sendable {
    /// The handler's role, for passwords.
    let client: PostgresClient
    /// Public details of other people's drops are read by id, past row level security.
    let workers: PostgresClient

    // MARK: Changes

    /// What a claim that went through comes to.
    struct Claimed: Sendable {
        let transaction: UUID
        let amount: Int64
        let createdAt: Date
    }

    /// Takes a slot and orders its payment.
    ///
    /// - Throws: `MoneyDropRefusal`.
    func claim(
        _ drop: UUID,
        by user: UserID,
        passwordHash: String?,
        in transaction: EventTransaction
    ) async throws -> Claimed {
        let rows = try await transaction.query(
            """
            SELECT outcome, transfer_id, amount, created_at FROM claim_money_drop(\(transaction.makeID()),
                \(user.uuid), \(drop), \(passwordHash), \(transaction.makeID()), \(transaction.cause.correlationID),
                \(transaction.cause.traceparent))
            """
        )
        guard let row = rows.first else { throw LedgerContradiction() }
        let (outcome, id, amount, moment) = try row.decode(String.self, UUID?.self, Int64?.self, Date?.self)
        if let refusal = MoneyDropRefusal(rawValue: outcome) { throw refusal }
        guard let id, let amount, let moment else { throw LedgerContradiction() }
        return Claimed(transaction: id, amount: amount, createdAt: moment)
    }

    /// Ends a drop early and orders the refund.
    ///
    /// - Throws: `MoneyDropRefusal`.
    func end(_ drop: UUID, by user: UserID, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            "SELECT end_money_drop(\(drop), \(user.uuid), \(transaction.cause.correlationID))"
        )
        guard let outcome = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        if let refusal = MoneyDropRefusal(rawValue: outcome) { throw refusal }
    }

    // MARK: Passwords

    /// The hash to check a password against, and the seconds this person must wait after too many wrong ones.
    func password(of drop: UUID, for user: UserID) async throws -> (hash: String?, wait: Int)? {
        try await self.client.query("SELECT password_hash, wait_seconds FROM drop_password(\(drop), \(user.uuid))")
            .first
            .map { row in
                let (hash, wait) = try row.decode(String?.self, Int32.self)
                return (hash, Int(wait))
            }
    }

    /// Counts a try before the password is looked at.
    ///
    /// - Returns: 0, or the seconds to wait: then it may not be looked at.
    func countTry(of drop: UUID, by user: UserID) async throws -> Int {
        let rows = try await self.client.withConnection { connection in
            try await connection.query("SELECT try_drop_password(\(drop), \(user.uuid))")
        }
        guard let row = rows.first else { throw LedgerContradiction() }
        return Int(try row.decode(Int32.self))
    }

    /// A counted try counts no more: it was right, or nobody could look at it.
    func giveBackTry(of drop: UUID, by user: UserID) async throws {
        _ = try await self.client.withConnection { connection in
            try await connection.query("SELECT give_back_drop_password(\(drop), \(user.uuid))")
        }
    }

    // MARK: Reads

    private static func columns(for viewer: UserID) -> SQL {
        """
        d.id, d.position, d.creator_id, d.title, d.amount_per_claim, d.slots,
        CASE WHEN d.state = 'open' AND d.expires_at <= transfa_now() THEN 'ended' ELSE d.state END,
        CASE WHEN d.state = 'open' AND d.expires_at <= transfa_now() THEN 'expired' ELSE d.end_reason END,
        d.password_hash IS NOT NULL, d.link, d.expires_at, d.created_at, s.open, s.taken, s.refunded, m.state,
        m.transfer_id
        FROM money_drops d
        CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE x.state = 'open' AND d.state = 'open'
                AND d.expires_at > transfa_now()) AS open,
            count(*) FILTER (WHERE x.state IN ('claimed', 'paid')) AS taken,
            count(*) FILTER (WHERE x.state = 'refunded') AS refunded
            FROM drop_slots x WHERE x.drop_id = d.id) s
        LEFT JOIN drop_slots m ON m.drop_id = d.id AND m.claimant_id = \(viewer.uuid)
        """
    }

    /// A drop as a person sees it; nil when there is none.
    func find(_ drop: UUID, for viewer: UserID) async throws -> MoneyDrop? {
        try await self.workers.query("SELECT \(Self.columns(for: viewer)) WHERE d.id = \(drop)").first.map(Self.decode)
    }

    /// Drops of a creator, newest first.
    func created(by user: UserID, before position: Int64, limit: Int) async throws -> [MoneyDrop] {
        try await self.workers.query(
            """
            SELECT \(Self.columns(for: user)) WHERE d.creator_id = \(user.uuid) AND d.position < \(position)
            ORDER BY d.position DESC LIMIT \(Int64(limit))
            """
        ).map(Self.decode)
    }

    /// Drops that a person has claimed from, the newest claim first.
    func claimed(by user: UserID, before transaction: UUID, limit: Int) async throws -> [MoneyDrop] {
        try await self.workers.query(
            """
            SELECT \(Self.columns(for: user)) WHERE m.claimant_id = \(user.uuid) AND m.transfer_id < \(transaction)
            ORDER BY m.transfer_id DESC LIMIT \(Int64(limit))
            """
        ).map(Self.decode)
    }

    /// The claims on a drop of this creator, in their order.
    func claims(on drop: UUID, of creator: UserID) async throws -> [MoneyDropClaim] {
        try await self.workers.query(
            """
            SELECT s.claimant_id, s.state, s.claimed_at FROM drop_slots s JOIN money_drops d ON d.id = s.drop_id
            WHERE s.drop_id = \(drop) AND d.creator_id = \(creator.uuid) AND s.claimant_id IS NOT NULL
            ORDER BY s.claimed_at, s.position
            """
        ).map { row in
            let (claimant, state, moment) = try row.decode(UUID.self, String.self, Date.self)
            return MoneyDropClaim(claimant: claimant, state: state, claimedAt: moment)
        }
    }

    private static func decode(_ row: PostgresRow) throws -> MoneyDrop {
        let (
            id, position, creator, title, each, slots, state, reason, hasPassword, link, expires, created, open, taken,
            refunded, claim, claimTransaction
        ) = try row.decode(
            UUID.self,
            Int64.self,
            UUID.self,
            String?.self,
            Int64.self,
            Int32.self,
            String.self,
            String?.self,
            Bool.self,
            String.self,
            Date.self,
            Date.self,
            Int64.self,
            Int64.self,
            Int64.self,
            String?.self,
            UUID?.self
        )
        return MoneyDrop(
            id: id,
            position: position,
            creator: creator,
            title: title,
            amountPerClaim: each,
            slots: Int(slots),
            state: state,
            endReason: reason,
            hasPassword: hasPassword,
            link: link,
            expiresAt: expires,
            createdAt: created,
            open: Int(open),
            taken: Int(taken),
            refunded: Int(refunded),
            claim: claim,
            claimTransaction: claimTransaction
        )
    }
}
