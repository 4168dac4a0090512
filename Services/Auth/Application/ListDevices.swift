import Contracts
import Messaging
import Primitives
import Sealing

/// The devices of a user, revoked ones too.
struct ListDevices: Sendable {
    let database: EventDatabase
    let devices: DeviceStore
    let vault: KeyVault

    /// Newest first.
    func callAsFunction(_ user: UserID) async throws -> [DeviceResource] {
        let devices = try await self.devices.list(user, on: self.database)
        return try await self.named(devices.map { DeviceResource(sealed: $0) }, of: user)
    }

    /// Devices as they were kept with an answer, with what their user calls them.
    func named(_ sealed: [DeviceResource], of user: UserID) async throws -> [DeviceResource] {
        guard !sealed.isEmpty else { return [] }
        do {
            let key = try await self.vault.open(user, as: user, on: self.database)
            return sealed.map { $0.named(key.deviceName($0.name, of: user)) }
        } catch AuthError.erased {
            return sealed.map { $0.named(SealedField.erasedText) }
        }
    }
}
