import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `transfers` and `releases`.
struct TransferStore: Sendable {
    /// Writes what an event says, unless a later event about the same payment has said more.
    func record(_ transfer: Transfer, sequence: Int64, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO transfers AS t (id, position, sender_id, recipient_id, low_id, high_id, type, state, route,
                amount, fee, duty, created_at, ended_at, transaction_sequence)
            SELECT x.id, x.id, x.sender, x.recipient, least(x.sender, x.recipient), greatest(x.sender, x.recipient),
                \(transfer.type), \(transfer.state.rawValue), \(transfer.route), \(transfer.amount), \(transfer.fee),
                \(transfer.duty), \(transfer.createdAt), \(transfer.endedAt), \(sequence)
            FROM (VALUES (\(transfer.id), \(transfer.sender.uuid), \(transfer.recipient.uuid)))
                AS x(id, sender, recipient)
            ON CONFLICT (id) DO UPDATE SET state = excluded.state, route = excluded.route, fee = excluded.fee,
                duty = excluded.duty, ended_at = excluded.ended_at, transaction_sequence = excluded.transaction_sequence
            WHERE t.transaction_sequence < excluded.transaction_sequence
            """
        )
    }

    /// Notes that a payment has left suspense for its recipient, whether the payment itself was heard of or not.
    func release(_ payment: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "INSERT INTO releases (transfer_id) VALUES (\(payment)) ON CONFLICT (transfer_id) DO NOTHING"
        )
    }

    /// What has passed between the reader and somebody else, newest first.
    ///
    /// - Parameters:
    ///   - reader: Whose request asks.
    ///   - other: The other one.
    ///   - position: Only payments before this id.
    ///   - limit: No more than so many.
    ///   - database: As handler, under row level security.
    /// - Returns: The payments.
    /// - Throws: `PostgresError`; `StoredWordUnknown` for a state that a newer version wrote.
    func page(
        between reader: UserID,
        and other: UserID,
        before position: UUID,
        limit: Int,
        on database: EventDatabase
    ) async throws -> [Transfer] {
        let sql: SQL = """
            SELECT id, sender_id, recipient_id, type,
                CASE WHEN state = 'waiting' AND EXISTS (SELECT 1 FROM releases r WHERE r.transfer_id = t.id)
                    THEN 'completed' ELSE state END,
                route, amount, fee, duty, created_at, ended_at
            FROM transfers t
            WHERE low_id = least(\(reader.uuid), \(other.uuid)) AND high_id = greatest(\(reader.uuid), \(other.uuid))
                AND position < \(position)
            ORDER BY position DESC LIMIT \(Int64(limit))
            """
        return try await database.client.query(sql, as: reader.uuid).map(Self.transfer)
    }

    private static func transfer(_ row: PostgresRow) throws -> Transfer {
        let (id, sender, recipient, type, state, route, amount, fee, duty, created, ended) = try row.decode(
            UUID.self,
            UUID.self,
            UUID.self,
            String.self,
            String.self,
            String.self,
            Int64.self,
            Int64.self,
            Int64.self,
            Date.self,
            Date.self
        )
        guard let known = Transfer.State(rawValue: state) else { throw StoredWordUnknown(table: "transfers") }
        return Transfer(
            id: id,
            sender: UserID(sender),
            recipient: UserID(recipient),
            type: type,
            state: known,
            route: route,
            amount: amount,
            fee: fee,
            duty: duty,
            createdAt: created,
            endedAt: ended
        )
    }
}
