import Foundation
import Messaging
import Postgres
import Primitives

/// Our side of reconciliation, and what it found; as worker, for no single user's request reads it.
struct ReconciliationStore: Sendable {
    let client: PostgresClient
    /// The provider's account that holds the money of drops.
    let poolAccount: String

    /// One of the provider's accounts that our books tell of.
    struct Account: Sendable {
        let name: String
        /// Nil: the account of drops.
        let user: UUID?
    }

    /// The account of that name, if our books tell of it.
    func account(_ name: String) async throws -> Account? {
        if name == self.poolAccount { return Account(name: name, user: nil) }
        let rows = try await self.client.query("SELECT id FROM users WHERE provider_account = \(name)")
        return try rows.first.map { Account(name: name, user: try $0.decode(UUID.self)) }
    }

    /// The account of a user, if the provider has opened one.
    func account(of user: UserID) async throws -> String? {
        try await self.client.query(
            "SELECT provider_account FROM users WHERE id = \(user.uuid) AND provider_account IS NOT NULL"
        ).first?.decode(String.self)
    }

    /// Which of these accounts are looked at on their own.
    func reconciled(_ accounts: Set<String>) async throws -> Set<String> {
        guard !accounts.isEmpty else { return [] }
        let rows = try await self.client.query(
            "SELECT provider_account FROM users WHERE provider_account = ANY (\(Array(accounts)))"
        )
        return Set(try rows.map { try $0.decode(String.self) }).union(accounts.intersection([self.poolAccount]))
    }

    // MARK: Our books

    /// Since when there are differences on an account: later looks have to reach as far.
    func oldestDifference(of account: Account) async throws -> Date? {
        try await self.client.query(
            """
            SELECT min(happened_at) FROM reconciliation_breaks
            WHERE account = \(account.name) AND resolved_at IS NULL AND kind <> 'balance'
            """
        ).first?.decode(Date?.self)
    }

    /// Since when the balance of an account differs.
    func balanceDiffersSince(_ account: Account) async throws -> Date? {
        try await self.client.query(
            """
            SELECT min(first_seen) FROM reconciliation_breaks
            WHERE account = \(account.name) AND resolved_at IS NULL AND kind = 'balance'
            """
        ).first?.decode(Date?.self)
    }

    /// What our books say of an account since a moment, and of transfers and payments of any time that are named.
    func ourBooks(
        of account: Account,
        since: Date,
        references: [String] = [],
        payments: [String] = []
    ) async throws -> OurBooks {
        let row = try await self.client.query(
            """
            SELECT expected, leaving, arriving, (SELECT coalesce(sum(b.amount), 0)::bigint FROM provider_bills b
                WHERE b.provider_account = \(account.name))
            FROM expected_at_provider(\(account.name), \(account.user))
            """
        ).first
        guard let row else { throw LedgerContradiction() }
        let (expected, leaving, arriving, billed) = try row.decode(Int64.self, Int64.self, Int64.self, Int64.self)
        return OurBooks(
            transfers: try await self.transfers(of: account, since: since, references),
            payments: try await self.payments(of: account, since: since, payments),
            expected: expected,
            leaving: leaving,
            arriving: arriving,
            billed: billed
        )
    }

    private func transfers(
        of account: Account,
        since: Date,
        _ references: [String]
    ) async throws -> [OurBooks.Transfer] {
        // Several plain conditions, each with an index of its own: one with OR would read whole tables.
        let rows = try await self.client.query(
            """
            SELECT DISTINCT reference, provider_id,
                -- What operators have returned stays done there, and goes back by an order of its own.
                CASE WHEN state = 'reversed' AND route_reason = 'returned' THEN 'completed' ELSE state END, amount,
                coalesce(source_account = \(account.name), false), created_at
            FROM (
                SELECT * FROM transfers WHERE sender_id = \(account.user) AND id >= \(since.firstID)
                UNION ALL
                SELECT * FROM transfers WHERE recipient_id = \(account.user) AND id >= \(since.firstID)
                UNION ALL
                SELECT * FROM transfers WHERE \(account.user)::uuid IS NULL AND id >= \(since.firstID)
                    AND type IN ('money_drop', 'drop_claim', 'drop_refund')
                UNION ALL
                SELECT * FROM transfers WHERE reference = ANY (\(references))
            ) AS t
            WHERE (type <> 'inbound' OR source_account IS NOT NULL) AND (source_account = \(account.name)
                OR route = 'internal' AND destination = \(account.name))
            """
        )
        return try rows.map { row in
            let (reference, providerID, state, amount, isOutgoing, created) = try row.decode(
                String.self,
                String?.self,
                String.self,
                Int64.self,
                Bool.self,
                Date.self
            )
            return OurBooks.Transfer(
                reference: reference,
                providerID: providerID,
                state: state,
                amount: amount,
                isOutgoing: isOutgoing,
                createdAt: created
            )
        }
    }

    private func payments(of account: Account, since: Date, _ ids: [String]) async throws -> [OurBooks.Payment] {
        let numbers = ids.map { String(BookComparison.number($0)) }
        let rows = try await self.client.query(
            """
            SELECT provider_payment_id, amount, received_at FROM inbound_payments
            WHERE provider_account = \(account.name)
                AND (received_at >= \(since) OR split_part(provider_payment_id, '-', 1) = ANY (\(numbers)))
            """
        )
        return try rows.map { row in
            let (id, amount, received) = try row.decode(String.self, Int64.self, Date.self)
            return OurBooks.Payment(id: id, amount: amount, receivedAt: received)
        }
    }

    // MARK: Looks

    /// Asks for a look at an account, or at all of them spread over a time; says how many.
    @discardableResult
    func ask(for account: String?, spread: Duration = .zero, in transaction: EventTransaction) async throws -> Int {
        let seconds = spread / .seconds(1)
        let rows = try await transaction.query(
            """
            SELECT ask_reconciliation(\(account), \(self.poolAccount), \(seconds) * interval '1 second',
                \(transaction.cause.correlationID))
            """
        )
        return Int(try rows.first?.decode(Int32.self) ?? 0)
    }

    /// Writes down what a look found and says how much of it is not confirmed yet.
    func note(
        _ differences: [BookDifference],
        _ explained: ExplainedMoney,
        of account: Account,
        confirmAfter: Duration,
        in transaction: EventTransaction
    ) async throws -> Int64 {
        let rows = try await transaction.query(
            """
            SELECT suspected FROM note_breaks(\(account.name), \(differences.map(\.kind.rawValue)),
                \(differences.map(\.key)), \(differences.map(\.ours))::text[], \(differences.map(\.theirs))::text[],
                \(differences.map(\.happenedAt))::timestamptz[], \(confirmAfter / .seconds(1)) * interval '1 second',
                p_listed => \(explained.listed), p_matched => \(explained.matched))
            """
        )
        return try rows.first?.decode(Int64.self) ?? 0
    }
}

extension Date {
    /// The least id that was made at this moment or later: ids begin with their time.
    var firstID: UUID {
        let milliseconds = UInt64(max(0, self.millisecondsSince1970))
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) }
        return UUID(bytes: bytes + [UInt8](repeating: 0, count: 10))
            ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
}
