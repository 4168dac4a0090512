import Contracts
import Messaging
import Primitives

/// Blocks a person for a user, or takes that back.
///
/// The other is told nothing.
struct ChangeBlock: Sendable {
    let users: CustomerUserStore
    let blocks: BlockStore

    /// The most that one user may block.
    static let limit: Int64 = 1000

    /// Blocks; once more changes nothing.
    ///
    /// - Throws: `CustomerError.notOnboarded`, `blockSelf`, `tooManyBlocks`.
    func block(_ other: UserID, by user: UserID, in transaction: EventTransaction) async throws {
        guard other != user else { throw CustomerError.blockSelf }
        // The mutex of what a user owns here, so that two at once are counted.
        guard try await self.users.lock(user, in: transaction)?.isErased == false else {
            throw CustomerError.notOnboarded
        }
        guard try await self.blocks.insert(other, by: user, in: transaction) else { return }
        guard try await self.blocks.count(of: user, in: transaction) <= Self.limit else {
            throw CustomerError.tooManyBlocks
        }
        try await self.publish(user, other, isBlocked: true, in: transaction)
    }

    /// Takes a block back; without one nothing changes.
    func unblock(_ other: UserID, by user: UserID, in transaction: EventTransaction) async throws {
        _ = try await self.users.lock(user, in: transaction)
        guard try await self.blocks.delete(other, by: user, in: transaction) else { return }
        try await self.publish(user, other, isBlocked: false, in: transaction)
    }

    private func publish(
        _ user: UserID,
        _ other: UserID,
        isBlocked: Bool,
        in transaction: EventTransaction
    ) async throws {
        let event = UserBlockChanged(userID: user.uuid, otherID: other.uuid, isBlocked: isBlocked)
        try await transaction.publish(event, about: user)
    }
}
