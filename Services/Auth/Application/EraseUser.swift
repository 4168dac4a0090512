import Contracts
import Messaging
import Primitives

/// Destroys a user's data key, so that nothing sealed for the user can be read again anywhere.
struct EraseUser: Sendable {
    let users: UserStore
    let keys: DataKeyStore
    let pins: PINStore
    let devices: DeviceStore

    /// Erases the user; once more changes nothing.
    ///
    /// An unknown user is none to erase.
    func callAsFunction(_ user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.users.erase(user, in: transaction) else { return }
        try await self.keys.destroy(user, in: transaction)
        try await self.pins.delete(user, in: transaction)
        for device in try await self.devices.active(user, in: transaction) {
            _ = try await self.devices.revoke(device.id, of: user, in: transaction)
            let event = DeviceRevoked(
                userID: user.uuid,
                deviceID: device.id,
                revokedAt: Timestamp.text(transaction.now)
            )
            try await transaction.publish(event, about: user)
        }
        try await transaction.publish(UserErased(userID: user.uuid), about: user)
    }
}
