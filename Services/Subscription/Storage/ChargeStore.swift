import Foundation
import Messaging
import Postgres
import Primitives

/// The table `charges`.
///
/// Lock the user's subscription first.
struct ChargeStore: Sendable {
    /// Notes that a charge is asked for, and says which attempt that is; nil when the period was paid before.
    func open(_ charge: Charge, in transaction: EventTransaction) async throws -> Int? {
        try await transaction.query(
            """
            INSERT INTO charges AS x (reference, user_id, plan, amount, attempt, starts_at, state, requested_at)
            VALUES (\(charge.reference), \(charge.user.uuid), \(charge.plan.name), \(charge.amount.kobo), 1,
                \(charge.startsAt), 'pending', \(transaction.now))
            ON CONFLICT (reference) DO UPDATE SET plan = excluded.plan, amount = excluded.amount,
                attempt = x.attempt + 1, starts_at = excluded.starts_at, state = 'pending', reason = NULL,
                requested_at = excluded.requested_at, decided_at = NULL
            WHERE x.state = 'refused'
            RETURNING attempt
            """
        ).first.map { Int(try $0.decode(Int32.self)) }
    }

    /// One by its reference.
    func find(_ reference: String, in transaction: EventTransaction) async throws -> StoredCharge? {
        try await transaction.query("SELECT \(Self.columns) FROM charges x WHERE x.reference = \(reference)").first
            .map(Self.charge)
    }

    /// Writes how the open attempt went; `transaction` is what paid it, `reason` why it was refused.
    func decide(
        _ reference: String,
        paidBy payment: UUID?,
        reason: String?,
        at moment: Date,
        in transaction: EventTransaction
    ) async throws {
        let state: Charge.State = payment == nil ? .refused : .paid
        try await transaction.stage(
            """
            UPDATE charges SET state = \(state.rawValue), transaction_id = \(payment), reason = \(reason),
                decided_at = \(moment)
            WHERE reference = \(reference) AND state = 'pending'
            """
        )
    }

    // MARK: Rows

    static let columns: SQL = """
        x.reference, x.user_id AS charged_user, x.plan AS charged_plan, x.amount, x.attempt, x.starts_at, x.state,
            x.reason, x.transaction_id, x.requested_at, x.decided_at
        """

    static func charge(_ row: PostgresRow) throws -> StoredCharge {
        guard let state = Charge.State(rawValue: try row["state"].decode(String.self)) else {
            throw StoredWordUnknown(table: "charges")
        }
        return StoredCharge(
            charge: Charge(
                reference: try row["reference"].decode(String.self),
                user: UserID(try row["charged_user"].decode(UUID.self)),
                plan: Plan(stored: try row["charged_plan"].decode(String.self)),
                amount: Money(kobo: try row["amount"].decode(Int64.self)),
                startsAt: try row["starts_at"].decode(Date?.self)
            ),
            state: state,
            attempt: Int(try row["attempt"].decode(Int32.self)),
            reason: try row["reason"].decode(String?.self),
            transaction: try row["transaction_id"].decode(UUID?.self),
            requestedAt: try row["requested_at"].decode(Date.self),
            decidedAt: try row["decided_at"].decode(Date?.self)
        )
    }
}

/// A row holds a word that this version does not know: a newer version wrote it.
struct StoredWordUnknown: Error {
    let table: String
}
