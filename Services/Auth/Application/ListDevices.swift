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
        guard !devices.isEmpty else { return [] }
        do {
            let key = try await self.vault.open(user, as: user, on: self.database)
            return devices.map { DeviceResource($0, name: key.name(of: $0, user: user)) }
        } catch AuthError.erased {
            return devices.map { DeviceResource($0, name: SealedField.erasedText) }
        }
    }
}
