import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Job: gives the provider what was handed in, and forgets it.
///
/// Repeating is safe: the provider replaces what it has.
struct DeliverDocument: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let documents: DocumentStore
    let keys: any DataKeys
    let provider: any CustomerProvider
    let calls: ProviderCalls
    let clock: any TimeSource

    /// No longer is a content kept.
    private static let patience: TimeInterval = 86_400

    /// Runs the job; its key begins with the document's id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: String(job.key.prefix { $0 != "." })),
            let found = try await self.documents.sending(id, on: self.database)
        else { return .cancelled(reason: "nothing_to_send") }
        var document = found.document
        let handedAt = document.handedAt ?? .distantPast
        guard self.clock.now.timeIntervalSince(handedAt) < Self.patience else {
            document.become(.refused, .notDelivered)
            return try await self.end(job, document)
        }
        guard let user = try await self.users.find(document.user, as: nil, on: self.database),
            let customerID = user.anchorCustomerID
        else { return .cancelled(reason: "no_customer") }
        guard let key = try await self.keys.key(for: document.user) else { throw CustomerError.erased }
        let context = SealContext(user: document.user.uuid, field: HandInDocument.field)
        let bytes = try SealedField(text: found.content.text).openBytes(key: key, context: context)
        let content = HandedContent(kind: found.kind, bytes: bytes)
        do {
            try await self.calls.call("upload_document", "document:\(job.key)", of: job) {
                try await self.provider.uploadDocument(
                    customerID: customerID,
                    documentID: found.document.providerID,
                    content.form,
                    deadline: nil
                )
            }
            document.become(.sent)
        } catch AnchorError.refused {
            document.become(.refused, .refusedByProvider)
        } catch AnchorError.notFound {
            document.become(.refused, .refusedByProvider)
        }
        return try await self.end(job, document)
    }

    private func end(_ job: Job, _ document: IdentityDocument) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            try await job.finish(in: transaction)
            try await self.documents.end(document, in: transaction)
        }
        return .done
    }
}
