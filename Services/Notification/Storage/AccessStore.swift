import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `devices` and `ended_sessions`, known from auth, and who may listen.
struct AccessStore: Sendable {
    /// How long after its registration a device may not have been heard of here.
    static let arrival = TimeInterval(60)
    /// How long an ended session is remembered; its last token is gone long before.
    static let memory = TimeInterval(24 * 60 * 60)

    // MARK: What events say

    /// A device can approve; one that was revoked before stays so.
    func registered(_ device: UUID, of user: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "INSERT INTO devices (id, user_id) VALUES (\(device), \(user)) ON CONFLICT (id) DO NOTHING"
        )
    }

    /// A device is removed, also when that is heard first.
    func revoked(_ device: UUID, of user: UUID, in transaction: EventTransaction) async throws {
        try await self.lock(user, in: transaction)
        try await transaction.stage(
            """
            INSERT INTO devices AS d (id, user_id, revoked_at) VALUES (\(device), \(user), \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET revoked_at = coalesce(d.revoked_at, excluded.revoked_at)
            WHERE d.user_id = excluded.user_id
            """
        )
    }

    /// A session is over; those of the person that have been over for a day are forgotten.
    func ended(_ session: String, of user: UUID, in transaction: EventTransaction) async throws {
        try await self.lock(user, in: transaction)
        let oldest = transaction.now.addingTimeInterval(-Self.memory)
        try await transaction.stage("DELETE FROM ended_sessions WHERE user_id = \(user) AND ended_at < \(oldest)")
        try await transaction.stage(
            """
            INSERT INTO ended_sessions (user_id, session_id, ended_at)
            VALUES (\(user), \(session), \(transaction.now)) ON CONFLICT DO NOTHING
            """
        )
    }

    /// A profile is closed, which is the last word about it.
    func closed(_ user: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO users AS u (id, closed_at) VALUES (\(user), \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET closed_at = coalesce(u.closed_at, excluded.closed_at)
            """
        )
    }

    /// Between a look at what may be told and the token that follows from it, nothing ends.
    private func lock(_ user: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "SELECT pg_advisory_xact_lock(hashtextextended(\(user.lowercased), 7103))"
        )
    }

    // MARK: Who asks

    /// Checks that a device is an active one of the user's own.
    ///
    /// - Throws: `NotificationError.deviceUnknown`, for a removed one, another person's and nobody's alike, and
    ///   `deviceNotReady` for one whose id is so new that it may not have been heard of.
    func check(_ device: UUID, of user: UserID, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            "SELECT revoked_at IS NULL FROM devices WHERE id = \(device) AND user_id = \(user.uuid)"
        )
        if let isActive = try rows.first?.decode(Bool.self) {
            guard isActive else { throw NotificationError.deviceUnknown }
            return
        }
        let age = device.version7Milliseconds.map { transaction.now.timeIntervalSince1970 - Double($0) / 1000 }
        guard let age, abs(age) <= Self.arrival else { throw NotificationError.deviceUnknown }
        throw NotificationError.deviceNotReady
    }

    /// Checks that a session goes on, and until the transaction ends nothing of the person's does.
    ///
    /// - Throws: `NotificationError.sessionEnded`.
    func check(session: String, of user: UserID, in transaction: EventTransaction) async throws {
        try await self.lock(user.uuid, in: transaction)
        let rows = try await transaction.query(
            "SELECT 1 FROM ended_sessions WHERE user_id = \(user.uuid) AND session_id = \(session)"
        )
        guard rows.isEmpty else { throw NotificationError.sessionEnded }
    }

    /// Checks that a person may listen in a session.
    ///
    /// - Throws: `NotificationError.notOnboarded`, `erased`, `profileClosed` or `sessionEnded`.
    func checkListener(_ user: UserID, session: String, on database: EventDatabase) async throws {
        let rows = try await database.client.query(
            """
            SELECT u.erased_at IS NOT NULL, u.closed_at IS NOT NULL, EXISTS (SELECT 1 FROM ended_sessions s
                WHERE s.user_id = u.id AND s.session_id = \(session))
            FROM users u WHERE u.id = \(user.uuid) AND (u.username IS NOT NULL OR u.erased_at IS NOT NULL)
            """,
            as: user.uuid
        )
        guard let row = rows.first else { throw NotificationError.notOnboarded }
        let (isErased, isClosed, hasEnded) = try row.decode(Bool.self, Bool.self, Bool.self)
        if isErased { throw NotificationError.erased }
        if isClosed { throw NotificationError.profileClosed }
        if hasEnded { throw NotificationError.sessionEnded }
    }
}
