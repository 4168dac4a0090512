import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives

/// Job: asks the provider which documents it wants of a user, and how those stand that it has.
struct ListDocuments: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let documents: DocumentStore
    let provider: any CustomerProvider
    let clock: any TimeSource

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let id = UserID(text: job.key), let user = try await self.users.find(id, as: nil, on: self.database),
            !user.isErased, let customerID = user.anchorCustomerID
        else { return .cancelled(reason: "no_customer") }
        let moment = self.clock.now
        let listed = try await self.provider.documents(customerID: customerID, deadline: nil)
        // The webhook may be faster than the list.
        let isWanted = user.verification == .known(.awaitingDocument)
        guard !listed.isEmpty || !isWanted else { return .again(reason: "no_documents_yet", after: nil) }
        try await self.database.transaction(cause: job.cause) { transaction in
            try await job.finish(in: transaction)
            let known = try await self.documents.lockAll(of: id, in: transaction)
            for entry in listed.prefix(IdentityDocument.limit) {
                var document =
                    known.first { $0.providerID == entry.id }
                    ?? IdentityDocument(
                        id: transaction.makeID(),
                        user: id,
                        providerID: entry.id,
                        type: entry.type,
                        format: .file
                    )
                document.follow(entry, askedAt: moment)
                if document.state != .sending { try await self.documents.save(document, in: transaction) }
            }
        }
        return .done
    }
}
