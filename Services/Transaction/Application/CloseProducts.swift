import Foundation
import Messaging
import ObjectStorage
import Primitives

/// Job: ends the drops and requests of somebody whose profile is closed, until none is left.
///
/// Repeating it is safe.
struct CloseProducts: Sendable {
    let database: EventDatabase
    let store: ClosureStore
    let images: RequestImageStore

    /// Between looks at what is still on its way, such as the funding of a drop.
    private static let pause = Duration.seconds(60)

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let user = UUID(text: job.key) else { return .failed(reason: "not_a_user") }
        let left = try await self.database.transaction(cause: job.cause) { transaction in
            let left = try await self.store.close(user, in: transaction)
            for image in try await self.images.cancelled(of: user, in: transaction) {
                try await transaction.enqueue(
                    TransactionJob.discardImage,
                    key: DiscardRequestImage.replacedKey(image),
                    subject: job.key
                )
            }
            if left == 0 { try await job.finish(in: transaction) }
            return left
        }
        return left == 0 ? .done : .again(reason: "still_open", after: Self.pause)
    }
}
