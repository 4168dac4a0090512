import Foundation
import Messaging
import Postgres
import Primitives

/// The table `subscriptions`.
struct SubscriptionStore: Sendable {
    /// What a user has and has used in a month; the free plan when nothing is known.
    ///
    /// `reader` is the user whose request asks; nil on the worker's connections, which see every row.
    func find(
        _ user: UserID,
        in month: UsageMonth,
        as reader: UserID?,
        on database: EventDatabase
    ) async throws -> Subscription {
        let sql: SQL = """
            SELECT s.plan, s.active_until, u.used
            FROM (SELECT \(user.uuid) AS user_id) wanted
            LEFT JOIN subscriptions s ON s.user_id = wanted.user_id
            LEFT JOIN usage u ON u.user_id = wanted.user_id AND u.month = \(month.text)
            """
        guard let row = try await database.client.query(sql, as: reader?.uuid).first else { return .free(in: month) }
        let (plan, activeUntil, used) = try row.decode(String?.self, Date?.self, Int32?.self)
        return Subscription(
            plan: plan.map { Plan(stored: $0) } ?? .free,
            activeUntil: activeUntil,
            month: month,
            used: Int(used ?? 0)
        )
    }

    /// Somebody signed up; an operator may have been faster.
    func create(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO subscriptions (user_id, created_at, updated_at)
            VALUES (\(user.uuid), \(transaction.now), \(transaction.now))
            ON CONFLICT (user_id) DO NOTHING
            """
        )
    }

    /// Carries out an order; false when everything was so before.
    func activate(_ order: PlanOrder, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let changed = try await transaction.query(
            """
            INSERT INTO subscriptions (user_id, plan, active_until, created_at, updated_at)
            VALUES (\(user.uuid), \(order.plan.name), \(order.until), \(transaction.now), \(transaction.now))
            ON CONFLICT (user_id) DO UPDATE SET plan = excluded.plan, active_until = excluded.active_until,
                updated_at = excluded.updated_at
            WHERE (subscriptions.plan, subscriptions.active_until)
                IS DISTINCT FROM (excluded.plan, excluded.active_until)
            RETURNING user_id
            """
        )
        return !changed.isEmpty
    }

    /// Ends plans whose time is over, the oldest first.
    ///
    /// - Returns: Who had which plan.
    func endExpired(limit: Int, in transaction: EventTransaction) async throws -> [(user: UserID, plan: Plan)] {
        try await transaction.query(
            """
            WITH expired AS (
                SELECT user_id, plan FROM subscriptions WHERE active_until <= \(transaction.now)
                ORDER BY active_until LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED
            )
            UPDATE subscriptions s SET plan = 'free', active_until = NULL, updated_at = \(transaction.now)
            FROM expired e WHERE s.user_id = e.user_id
            RETURNING e.user_id, e.plan
            """
        ).map { row in
            let (user, plan) = try row.decode(UUID.self, String.self)
            return (UserID(user), Plan(stored: plan))
        }
    }
}
