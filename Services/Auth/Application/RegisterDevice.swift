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

    /// Adds the device; a key that is registered already keeps its device.
    ///
    /// - Throws: `AuthError.notOnboarded`, `tooManyDevices` or `erased`.
    func callAsFunction(
        _ draft: DeviceDraft,
        user: UserID,
        in transaction: EventTransaction
    ) async throws -> DeviceResource {
        _ = try await self.users.lock(user, in: transaction)
        let key = try await self.vault.open(user, in: transaction)
        let active = try await self.devices.active(user, in: transaction)
        if let known = active.first(where: { $0.publicKey == draft.publicKey.x963 }) {
            return DeviceResource(known, name: key.name(of: known, user: user))
        }
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
        return DeviceResource(device, name: draft.name)
    }
}

extension DataKey {
    /// What a user calls a device.
    func name(of device: Device, user: UserID) -> String {
        let context = SealContext(user: user.uuid, field: Device.nameField)
        let name = try? SealedField(text: device.sealedName).open(key: self, context: context)
        return name ?? SealedField.erasedText
    }
}

extension DeviceResource {
    /// A device as its user sees it.
    init(_ device: Device, name: String) {
        self.init(
            id: device.id,
            name: name,
            activatedAt: Timestamp.text(device.activatedAt),
            revokedAt: device.revokedAt.map(Timestamp.text)
        )
    }
}
