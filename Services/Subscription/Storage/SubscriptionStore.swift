import Foundation
import Messaging
import Postgres
import Primitives

/// The table `subscriptions`.
struct SubscriptionStore: Sendable {
    // MARK: Reading

    /// What a user has and has used in a month; the free plan when nothing is known.
    ///
    /// `reader` is the user whose request asks; nil on the worker's connections, which see every row.
    func view(
        _ user: UserID,
        in month: UsageMonth,
        as reader: UserID?,
        on database: EventDatabase
    ) async throws -> SubscriptionView {
        let rows = try await database.client.query(Self.viewing(user, month), as: reader?.uuid)
        return try Self.view(rows, of: user, month)
    }

    /// The same, of what a transaction has written so far.
    func view(_ user: UserID, in month: UsageMonth, _ transaction: EventTransaction) async throws -> SubscriptionView {
        try Self.view(try await transaction.query(Self.viewing(user, month)), of: user, month)
    }

    /// The row of a user, locked; nil when nothing was heard of the user.
    func lock(_ user: UserID, in transaction: EventTransaction) async throws -> Subscription? {
        try await transaction.query(
            "SELECT \(Self.columns) FROM subscriptions s WHERE s.user_id = \(user.uuid) FOR NO KEY UPDATE"
        ).first.map(Self.subscription)
    }

    /// Those whose next charge is due, locked, the oldest first; what others have locked is theirs.
    func lockDue(limit: Int, in transaction: EventTransaction) async throws -> [(user: UserID, Subscription)] {
        try await transaction.query(
            """
            SELECT \(Self.columns), s.user_id FROM subscriptions s WHERE s.next_charge_at <= \(transaction.now)
            ORDER BY s.next_charge_at LIMIT \(Int64(limit)) FOR NO KEY UPDATE SKIP LOCKED
            """
        ).map { row in (UserID(try row["user_id"].decode(UUID.self)), try Self.subscription(row)) }
    }

    // MARK: Writing

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

    /// Writes what is to come; what is paid stays as it is.
    ///
    /// All that the role of requests may write.
    func saveRenewal(_ subscription: Subscription, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE subscriptions SET renews_as = \(subscription.renewsAs?.name),
                next_charge_at = \(subscription.nextChargeAt), pending_charge = \(subscription.pendingCharge),
                grace_until = \(subscription.graceUntil), updated_at = \(transaction.now)
            WHERE user_id = \(user.uuid)
            """
        )
    }

    /// Writes all of it.
    func save(_ subscription: Subscription, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE subscriptions SET plan = \(subscription.plan.name), active_until = \(subscription.activeUntil),
                anchored_at = \(subscription.anchor), renews_as = \(subscription.renewsAs?.name),
                next_charge_at = \(subscription.nextChargeAt), pending_charge = \(subscription.pendingCharge),
                grace_until = \(subscription.graceUntil), updated_at = \(transaction.now)
            WHERE user_id = \(user.uuid)
            """
        )
    }

    /// Carries out an operator's order; false when everything was so before.
    func give(_ gift: PlanGift, to user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let changed = try await transaction.query(
            """
            INSERT INTO subscriptions (user_id, plan, active_until, created_at, updated_at)
            VALUES (\(user.uuid), \(gift.plan.name), \(gift.until), \(transaction.now), \(transaction.now))
            ON CONFLICT (user_id) DO UPDATE SET plan = excluded.plan, active_until = excluded.active_until,
                grace_until = NULL, anchored_at = NULL, renews_as = NULL, next_charge_at = NULL,
                updated_at = excluded.updated_at
            WHERE (subscriptions.plan, subscriptions.active_until)
                IS DISTINCT FROM (excluded.plan, excluded.active_until)
            RETURNING user_id
            """
        )
        return !changed.isEmpty
    }

    /// Ends plans whose time is over and of which no charge is open, the oldest first.
    ///
    /// - Returns: Who had which plan.
    func endExpired(limit: Int, in transaction: EventTransaction) async throws -> [(user: UserID, plan: Plan)] {
        try await transaction.query(
            """
            WITH expired AS (
                SELECT user_id, plan FROM subscriptions
                WHERE active_until IS NOT NULL AND coalesce(grace_until, active_until) <= \(transaction.now)
                    AND pending_charge IS NULL
                ORDER BY coalesce(grace_until, active_until) LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED
            )
            UPDATE subscriptions s SET plan = 'free', active_until = NULL, grace_until = NULL, anchored_at = NULL,
                renews_as = NULL, next_charge_at = NULL, updated_at = \(transaction.now)
            FROM expired e WHERE s.user_id = e.user_id
            RETURNING e.user_id, e.plan
            """
        ).map { row in
            let (user, plan) = try row.decode(UUID.self, String.self)
            return (UserID(user), Plan(stored: plan))
        }
    }

    // MARK: Rows

    private static let columns: SQL =
        "s.plan, s.active_until, s.grace_until, s.anchored_at, s.renews_as, s.next_charge_at, s.pending_charge"

    private static func viewing(_ user: UserID, _ month: UsageMonth) -> SQL {
        """
        SELECT \(Self.columns), u.used, c.* FROM (SELECT \(user.uuid) AS wanted_id) wanted
        LEFT JOIN subscriptions s ON s.user_id = wanted.wanted_id
        LEFT JOIN usage u ON u.user_id = wanted.wanted_id AND u.month = \(month.text)
        LEFT JOIN LATERAL (SELECT \(ChargeStore.columns) FROM charges x WHERE x.user_id = wanted.wanted_id
            ORDER BY x.requested_at DESC LIMIT 1) c ON true
        """
    }

    private static func view(
        _ rows: [PostgresRow],
        of user: UserID,
        _ month: UsageMonth
    ) throws -> SubscriptionView {
        guard let row = rows.first else { return SubscriptionView(month: month) }
        return SubscriptionView(
            subscription: try Self.subscription(row),
            month: month,
            used: Int(try row["used"].decode(Int32?.self) ?? 0),
            lastCharge: try row["reference"].decode(String?.self) == nil ? nil : ChargeStore.charge(row)
        )
    }

    private static func subscription(_ row: PostgresRow) throws -> Subscription {
        Subscription(
            plan: try row["plan"].decode(String?.self).map { Plan(stored: $0) } ?? .free,
            activeUntil: try row["active_until"].decode(Date?.self),
            graceUntil: try row["grace_until"].decode(Date?.self),
            anchor: try row["anchored_at"].decode(Date?.self),
            renewsAs: try row["renews_as"].decode(String?.self).map { Plan(stored: $0) },
            nextChargeAt: try row["next_charge_at"].decode(Date?.self),
            pendingCharge: try row["pending_charge"].decode(String?.self)
        )
    }
}
