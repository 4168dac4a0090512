import Contracts
import Messaging
import Primitives

/// Destroys a user's data key, so that nothing sealed for the user can be read again anywhere.
struct EraseUser: Sendable {
    let users: UserStore
    let keys: DataKeyStore
    let pins: PINStore
    let devices: DeviceStore
    var signIns = SignInStore()
    var marks = MarkStore()

    /// Erases the user; once more changes nothing.
    ///
    /// An unknown user is none to erase. An operator's act stands in the audit, that of the retention needs nobody.
    func callAsFunction(
        _ user: UserID,
        by operator: OperatorOrder? = nil,
        in transaction: EventTransaction
    ) async throws {
        guard try await self.users.erase(user, in: transaction) else { return }
        try await self.marks.forget(user, in: transaction)
        try await self.signIns.forget(user, in: transaction)
        try await self.keys.destroy(user, in: transaction)
        try await self.pins.delete(user, in: transaction)
        try await self.devices.revokeAll(of: user, in: transaction)
        try await transaction.publish(UserErased(userID: user.uuid), about: user)
        if let `operator` { try await transaction.record("user.erased", on: user, by: `operator`) }
    }
}
