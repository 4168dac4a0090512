import Foundation
import Messaging
import Postgres
import Primitives

/// The table `devices`.
struct DeviceStore: Sendable {
    /// All devices of a user, newest first.
    func list(_ user: UserID, on database: EventDatabase) async throws -> [Device] {
        try await database.client.query(
            """
            SELECT id, name, public_key, activated_at, revoked_at FROM devices
            WHERE user_id = \(user.uuid) ORDER BY activated_at DESC, id LIMIT 100
            """,
            as: user.uuid
        ).map(Self.device)
    }

    /// The devices that may approve.
    func active(_ user: UserID, in transaction: EventTransaction) async throws -> [Device] {
        try await transaction.query(
            """
            SELECT id, name, public_key, activated_at, revoked_at FROM devices
            WHERE user_id = \(user.uuid) AND revoked_at IS NULL ORDER BY activated_at, id
            """
        ).map(Self.device)
    }

    /// Adds a device.
    func insert(_ device: Device, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO devices (id, user_id, name, public_key, activated_at)
            VALUES (\(device.id), \(user.uuid), \(device.sealedName), \(device.publicKey), \(device.activatedAt))
            """
        )
    }

    /// What revoking a device did.
    enum Revocation: Sendable {
        case revoked
        case alreadyRevoked
        case unknown
    }

    /// Takes a device's right away.
    func revoke(_ id: UUID, of user: UserID, in transaction: EventTransaction) async throws -> Revocation {
        let rows = try await transaction.query(
            """
            WITH known AS (SELECT id, revoked_at FROM devices WHERE id = \(id) AND user_id = \(user.uuid) FOR UPDATE),
            changed AS (
                UPDATE devices SET revoked_at = \(transaction.now)
                WHERE id IN (SELECT id FROM known WHERE revoked_at IS NULL) RETURNING id
            )
            SELECT EXISTS (SELECT 1 FROM known), EXISTS (SELECT 1 FROM changed)
            """
        )
        let (known, changed) = try rows.first?.decode(Bool.self, Bool.self) ?? (false, false)
        guard known else { return .unknown }
        return changed ? .revoked : .alreadyRevoked
    }

    private static func device(_ row: PostgresRow) throws -> Device {
        let (id, name, key, activated, revoked) = try row.decode(
            UUID.self,
            String.self,
            [UInt8].self,
            Date.self,
            Date?.self
        )
        return Device(id: id, sealedName: name, publicKey: key, activatedAt: activated, revokedAt: revoked)
    }
}
