import Contracts
import Messaging
import Primitives

/// Closes the profile of somebody who has deleted the sign-in, or whom an operator has closed: nothing approves a payment
/// any more.
///
/// What is known of the person stays until `EraseClosedProfiles`, as the law wants.
struct CloseProfile: Sendable {
    let users: UserStore
    let pins: PINStore
    let devices: DeviceStore

    /// Closes the profile; once more, or for nobody, changes nothing.
    func callAsFunction(_ user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.users.close(user, in: transaction) else { return }
        try await self.pins.delete(user, in: transaction)
        try await self.devices.revokeAll(of: user, in: transaction)
        let event = UserClosed(userID: user.uuid, closedAt: Timestamp.text(transaction.now))
        try await transaction.publish(event, about: user)
    }
}

extension DeviceStore {
    /// Takes the right of every device of a user away and says so.
    func revokeAll(of user: UserID, in transaction: EventTransaction) async throws {
        for device in try await self.active(user, in: transaction) {
            guard case .revoked = try await self.revoke(device.id, of: user, in: transaction) else { continue }
            let event = DeviceRevoked(
                userID: user.uuid,
                deviceID: device.id,
                revokedAt: Timestamp.text(transaction.now)
            )
            try await transaction.publish(event, about: user)
        }
    }
}
