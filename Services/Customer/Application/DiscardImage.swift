import Messaging
import ObjectStorage
import ServiceKit

/// Deletes an image that its user does not show: one that was replaced, or whose upload did not come to an end.
///
/// Repeating it is safe.
struct DiscardImage: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let images: ImageStore
    let desk: ImageDesk

    /// The key of the job for an image that was replaced.
    static func replacedKey(_ key: ImageKey) -> String { "\(key.text).replaced" }

    /// Runs a job whose key begins with that of the image.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let key = ImageKey(reading: job.key.prefix { $0 != "." }) else { return .failed(reason: "not_a_key") }
        guard let record = try await self.images.find(key, on: self.database) else { return .done }
        // Under the lock under which images are changed: what is not shown now never will be.
        let known = try await self.database.transaction(cause: job.cause) { transaction -> JobOutcome? in
            let user = try await self.users.lock(record.owner, in: transaction)
            guard user?.image != key else {
                try await job.finish(in: transaction)
                return .done
            }
            guard try await self.images.mayBeUploading(key, in: transaction) else { return nil }
            return .again(reason: "upload_may_be_running", after: .seconds(60))
        }
        if let known { return known }
        try await self.desk.discard(record)
        try await self.database.transaction(cause: job.cause) { transaction in
            try await self.images.delete(key, in: transaction)
            try await job.finish(in: transaction)
        }
        return .done
    }
}
