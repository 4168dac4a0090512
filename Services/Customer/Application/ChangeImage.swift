import Messaging
import ObjectStorage
import Primitives

/// Changes the image that a user shows.
///
/// First a row says that bytes are about to come, then they are put into the store, then the user shows them. An
/// upload that ends between these steps leaves a job that clears up.
struct ChangeImage: Sendable {
    let users: CustomerUserStore
    let images: ImageStore

    /// Long after any request has ended.
    private static let patience = Duration.seconds(900)

    /// Notes an image whose bytes are about to be kept.
    ///
    /// - Throws: `CustomerError.notOnboarded`.
    func announce(_ record: ImageRecord, in transaction: EventTransaction) async throws {
        _ = try await self.known(record.owner, in: transaction)
        try await self.images.insert(record, in: transaction)
        try await transaction.enqueue(
            CustomerJob.discardImage,
            key: record.key.text,
            subject: record.owner.description,
            after: Self.patience
        )
    }

    /// Shows an image whose bytes are kept, or none; the one that was shown before is deleted soon.
    ///
    /// - Throws: `CustomerError.notOnboarded`.
    func show(_ key: ImageKey?, of user: UserID, in transaction: EventTransaction) async throws {
        let known = try await self.known(user, in: transaction)
        guard known.image != key else { return }
        try await self.images.show(key, of: user, in: transaction)
        guard let old = known.image else { return }
        // A job of its own: the one from before the upload may have run, and a request cannot run it again.
        try await transaction.enqueue(
            CustomerJob.discardImage,
            key: DiscardImage.replacedKey(old),
            subject: user.description
        )
    }

    private func known(_ user: UserID, in transaction: EventTransaction) async throws -> CustomerUser {
        guard let known = try await self.users.lock(user, in: transaction), !known.isErased else {
            throw CustomerError.notOnboarded
        }
        return known
    }
}
