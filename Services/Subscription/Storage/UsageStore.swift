import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `usage`, a projection of what `transaction` counts, and `adjustments`.
struct UsageStore: Sendable {
    /// Takes over a count unless a newer one is known.
    func record(_ count: UsageCount, in transaction: EventTransaction) async throws {
        let used = count.used.map { Int32(clamping: $0) }
        try await transaction.stage(
            """
            INSERT INTO usage (user_id, month, used, sequence, updated_at)
            VALUES (\(count.user.uuid), \(count.month.text), coalesce(\(used), greatest(0, \(Int32(count.step)))),
                \(count.sequence), \(transaction.now))
            ON CONFLICT (user_id, month) DO UPDATE SET
                used = coalesce(\(used), greatest(0, usage.used + \(Int32(count.step)))),
                sequence = excluded.sequence, updated_at = excluded.updated_at
            WHERE usage.sequence < excluded.sequence
            """
        )
    }

    /// Notes a correction; false when its id is known.
    func insert(_ adjustment: Adjustment, in transaction: EventTransaction) async throws -> Bool {
        let inserted = try await transaction.query(
            """
            INSERT INTO adjustments (id, user_id, month, delta, created_at)
            VALUES (\(adjustment.id), \(adjustment.user.uuid), \(adjustment.month.text), \(Int32(adjustment.delta)),
                \(transaction.now))
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """
        )
        return !inserted.isEmpty
    }

    /// A correction that was made.
    func adjustment(_ id: UUID, in transaction: EventTransaction) async throws -> Adjustment? {
        let rows = try await transaction.query("SELECT user_id, month, delta FROM adjustments WHERE id = \(id)")
        guard let (user, text, delta) = try rows.first?.decode(UUID.self, String.self, Int32.self),
            let month = UsageMonth(text: text)
        else { return nil }
        return Adjustment(id: id, user: UserID(user), month: month, delta: Int(delta))
    }
}
