import Contracts
import Foundation
import Messaging
import Primitives
import Sealing

/// Takes a document that the provider wants to see of a user.
///
/// What was handed in is kept sealed until a job has given it to the provider.
struct HandInDocument: Sendable {
    let users: CustomerUserStore
    let documents: DocumentStore

    /// Keeps it and asks for work.
    ///
    /// `key` is the user's data key, fetched before the transaction began.
    /// - Throws: `CustomerError.notOnboarded`, `documentNotFound`, `documentsNotWanted`, `documentHandedIn`.
    func callAsFunction(
        _ content: HandedContent,
        as id: UUID,
        of user: UserID,
        key: DataKey,
        in transaction: EventTransaction
    ) async throws -> IdentityDocument {
        guard let known = try await self.users.lock(user, in: transaction), !known.isErased else {
            throw CustomerError.notOnboarded
        }
        guard var document = try await self.documents.lock(id, of: user, in: transaction) else {
            throw CustomerError.documentNotFound
        }
        guard document.isOpen else { throw CustomerError.documentHandedIn }
        guard known.verification == .known(.awaitingDocument) else { throw CustomerError.documentsNotWanted }
        let context = SealContext(user: user.uuid, field: Self.field)
        let sealed = Sealed(try SealedField.seal(bytes: content.bytes, key: key, context: context).text)
        try await self.documents.hand(in: sealed, content.kind, as: id, in: transaction)
        // A job of its own each time: a request cannot run an old one again.
        try await transaction.enqueue(
            CustomerJob.deliverDocument,
            key: "\(id.lowercased).\(transaction.makeID().lowercased)",
            subject: user.description
        )
        document.become(.sending)
        return document
    }

    /// Of the sealed content.
    static let field = "document.content"
}
