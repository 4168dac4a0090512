import Messaging
import ObjectStorage
import ServiceKit

/// Deletes an image that no request shows: one that was replaced, or whose upload did not come to an end.
///
/// Repeating it is safe.
struct DiscardRequestImage: Sendable {
    let database: EventDatabase
    let images: RequestImageStore
    let desk: ImageDesk

    /// The key of the job for an image that was replaced: a request of a handler cannot run the first one again.
    static func replacedKey(_ key: ImageKey) -> String { "\(key.text).replaced" }

    /// Runs a job whose key begins with that of the image.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let key = ImageKey(reading: job.key.prefix { $0 != "." }) else { return .failed(reason: "not_a_key") }
        guard let record = try await self.images.find(key) else { return .done }
        // Under the lock under which images are changed.
        let fate = try await self.database.transaction(cause: job.cause) { transaction in
            let fate = try await self.images.fate(of: key, in: transaction)
            if fate == .keep { try await job.finish(in: transaction) }
            return fate
        }
        switch fate {
        case .keep: return .done
        case .wait: return .again(reason: "upload_may_be_running", after: .seconds(60))
        case .discard: break
        }
        try await self.desk.discard(record)
        try await self.database.transaction(cause: job.cause) { transaction in
            try await self.images.delete(key, in: transaction)
            try await job.finish(in: transaction)
        }
        return .done
    }
}
