import Contracts
import Messaging
import Primitives
import Sealing

/// Lets a device approve payments.
///
/// The PIN was checked before.
struct RegisterDevice: Sendable {
    let users: UserStore
    let devices: DeviceStore
    let vault: KeyVault

    /// Adds the device and returns it; a key that is registered already keeps its device.
    ///
    /// - Throws: `AuthError.notOnboarded`, `tooManyDevices` or `erased`.
    func callAsFunction(
        _ draft: DeviceDraft,
        user: UserID,
        in transaction: EventTransaction
    ) async throws -> Device {
        _ = try await self.users.lock(user, in: transaction)
        let key = try await self.vault.open(user, in: transaction)
        let active = try await self.devices.active(user, in: transaction)
        if let known = active.first(where: { $0.publicKey == draft.publicKey.x963 }) { return known }
        guard active.count < Device.limit else { throw AuthError.tooManyDevices }
        let context = SealContext(user: user.uuid, field: Device.nameField)
        let device = Device(
            id: transaction.makeID(),
            sealedName: try SealedField.seal(draft.name, key: key, context: context).text,
            publicKey: draft.publicKey.x963,
            activatedAt: transaction.now,
            revokedAt: nil
        )
        try await self.devices.insert(device, of: user, in: transaction)
        try await transaction.publish(
            DeviceRegistered(
                userID: user.uuid,
                deviceID: device.id,
                publicKey: Base64URL.encode(device.publicKey),
                activatedAt: Timestamp.text(device.activatedAt)
            ),
            about: user
        )
        return device
    }
}

extension DataKey {
    /// What a user calls a device.
    func deviceName(_ sealed: String, of user: UserID) -> String {
        let context = SealContext(user: user.uuid, field: Device.nameField)
        return (try? SealedField(text: sealed).open(key: self, context: context)) ?? SealedField.erasedText
    }
}

extension DeviceResource {
    /// A device as it is kept with an answer: with its name sealed.
    init(sealed device: Device) {
        self.init(
            id: device.id,
            name: device.sealedName,
            activatedAt: Timestamp.text(device.activatedAt),
            revokedAt: device.revokedAt.map(Timestamp.text)
        )
    }

    /// The same device as its user sees it.
    func named(_ name: String) -> DeviceResource {
        var device = self
        device.name = name
        return device
    }
}
