import Contracts
import Messaging
import Primitives

/// Keeps who was shut out from coming back under another sign-in.
///
/// An operator shuts out whose profile is closed, and whose profile was restricted when its owner left. A profile whose
/// owner left in peace bars nobody, nor one that an operator has released.
struct BarFormer: Sendable {
    let users: UserStore
    var marks = MarkStore()

    /// The reason under which customer closes what auth has closed.
    static let ownClosing = "profile_closed"

    /// What follows from a restriction of which customer tells, also when the profile was closed before it was heard.
    func restricted(_ data: UserRestricted, in transaction: EventTransaction) async throws {
        let user = UserID(data.userID)
        switch data.restriction {
        case .known(.closed):
            guard data.reason != Self.ownClosing else { return }
        case .known(.frozen), .known(.postNoDebit):
            guard try await self.users.isClosed(user, before: transaction.now, in: transaction) else { return }
        case .known(.none), .unknown: return
        }
        try await self.marks.bar(user, in: transaction)
    }

    /// The owner leaves.
    func left(_ user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.users.isRestricted(user, in: transaction) else { return }
        try await self.marks.bar(user, in: transaction)
    }
}
