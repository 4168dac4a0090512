import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// What a payer wrote, as it waits in a job.
struct SealedWords: Codable, Sendable {
    let sender: UserID
    let text: String
}

/// Job: puts a payment into the category that its words speak for.
///
/// The words are opened in memory and not kept. Those of somebody who was erased say nothing any more.
struct ReadWords: Sendable {
    let database: EventDatabase
    let facts: FactStore
    let money: Projection
    let keys: any DataKeys

    /// How the payer's text is sealed; see `SealedText` in transaction.
    private static let field = "description"

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        let words = try job.payload(as: SealedWords.self)
        guard let transfer = UUID(text: job.key) else { return .failed(reason: "no_transfer") }
        guard let key = try await self.keys.key(for: words.sender) else { return .cancelled(reason: "erased") }
        let context = SealContext(user: words.sender.uuid, field: Self.field, schema: 1)
        guard let text = try? SealedField(text: words.text).open(key: key, context: context) else {
            return .failed(reason: "unreadable")
        }
        guard let category = CategoryWords.category(of: text) else { return .done }
        try await self.database.transaction(cause: job.cause) { transaction in
            try await self.money.join(transaction)
            try await self.facts.note(category, of: transfer, in: transaction)
            try await job.finish(in: transaction)
        }
        return .done
    }
}
