import Messaging
import Primitives
import Sealing

/// Wraps data keys anew that a former master key has wrapped, so that it can be taken away.
///
/// The data keys stay what they are: nothing that is sealed is touched, and nobody who holds one notices.
struct RewrapDataKeys: Sendable {
    let keys: DataKeyStore
    let ring: MasterKeyRing

    private static let interval = Duration.seconds(5)
    /// A second's work at most: the rows are locked meanwhile.
    static let batch = 500

    /// Looks every few seconds; without a former master key there is nothing to look for.
    var schedule: Schedule {
        Schedule("rewrap_data_keys", every: Self.interval) { _ = try await self.rewrap(in: $0) }
    }

    /// Wraps one batch anew.
    ///
    /// - Returns: How many keys there were.
    func rewrap(in transaction: EventTransaction) async throws -> Int {
        let former = self.ring.formerIDs
        guard !former.isEmpty else { return 0 }
        let old = try await self.keys.wrapped(by: former, limit: Self.batch, in: transaction)
        let new = try old.compactMap { entry -> (user: UserID, key: WrappedKey)? in
            // One that is broken holds up nobody: it stays where it is, and is counted under the former key.
            guard let key = try? self.ring.unwrap(entry.key, for: entry.user.uuid) else { return nil }
            return (entry.user, try self.ring.wrap(key, for: entry.user.uuid))
        }
        try await self.keys.replace(new, in: transaction)
        return new.count
    }
}
