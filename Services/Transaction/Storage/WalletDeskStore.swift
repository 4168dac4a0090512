import Foundation
import Messaging
import Postgres
import Primitives

/// Wallets that send nothing until an operator has looked; as worker, for no user's request comes here.
struct WalletDeskStore: Sendable {
    let client: PostgresClient

    /// What became of an operator's wish to unblock a wallet.
    enum Unblocking: String, Sendable {
        case unblocked
        /// It still owes.
        case belowZero = "below_zero"
        case notBlocked = "not_blocked"
        /// Something else is owed than what the operator has seen.
        case changed
        /// There is no such wallet.
        case missing
    }

    /// Blocked wallets, as JSON, and how much they still owe of what was taken back after their owners had spent it.
    func blocked(limit: Int) async throws -> String {
        try await self.client.query(
            """
            SELECT coalesce(json_agg(json_build_object('user_id', w.owner_id, 'posted', w.posted, 'held', w.held,
                'below_zero', w.posted - w.held < 0, 'owed', w.owed) ORDER BY w.account_id), '[]')::text
            FROM (SELECT a.owner_id, b.* FROM balances b JOIN ledger_accounts a ON a.id = b.account_id
                WHERE b.debits_blocked AND a.kind = 'wallet' ORDER BY b.account_id LIMIT \(Int64(limit))) w
            """
        ).first?.decode(String.self) ?? "[]"
    }

    /// A wallet as the audit shows it.
    private struct AuditedWallet: Encodable, Sendable {
        let blocked: Bool
        var posted: Int64?
        var held: Int64?
        var owed: Int64?
    }

    /// Lets a wallet send again whose owner owes so much, and records that.
    func unblock(
        _ user: UUID,
        owing owed: Int64,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> Unblocking {
        let rows = try await transaction.query(
            "SELECT result, posted, held FROM unblock_wallet(\(user), \(owed), \(order.request))"
        )
        guard let (word, posted, held) = try rows.first?.decode(String.self, Int64?.self, Int64?.self),
            let unblocking = Unblocking(rawValue: word)
        else { throw LedgerContradiction() }
        // Nothing was done by a request that had done it before.
        if let posted {
            try await transaction.record(
                "wallet.unblocked",
                on: user.lowercased,
                before: AuditedWallet(blocked: true, posted: posted, held: held),
                after: AuditedWallet(blocked: false, owed: owed),
                by: order
            )
        }
        return unblocking
    }
}
