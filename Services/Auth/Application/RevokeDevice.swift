import Contracts
import Foundation
import Messaging
import Primitives

/// Takes a device's right to approve away.
struct RevokeDevice: Sendable {
    let devices: DeviceStore

    /// Revokes the device; once more changes nothing.
    ///
    /// - Throws: `AuthError.deviceNotFound`, also for somebody else's.
    func callAsFunction(_ device: UUID, user: UserID, in transaction: EventTransaction) async throws {
        switch try await self.devices.revoke(device, of: user, in: transaction) {
        case .unknown: throw AuthError.deviceNotFound
        case .alreadyRevoked: return
        case .revoked:
            let event = DeviceRevoked(userID: user.uuid, deviceID: device, revokedAt: Timestamp.text(transaction.now))
            try await transaction.publish(event, about: user)
        }
    }
}
