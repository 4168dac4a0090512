import Foundation
import HTTPTypes
import Hummingbird
import ImageFiles
import Messaging
import ObjectStorage
import Primitives
import ServiceKit

/// The image of a payment request: changed by its owner while it is open, seen by whoever knows its name.
struct RequestImageController: Sendable {
    let store: PaymentRequestStore
    let images: RequestImageStore
    let desk: ImageDesk
    let database: EventDatabase
    let once: ChangeOnce

    /// Long after any request has ended.
    private static let patience = Duration.seconds(900)

    /// Adds the routes of signed-in users.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.put("/payment-requests/:id/image") { try await self.put($0, $1) }
        group.delete("/payment-requests/:id/image") { try await self.delete($0, $1) }
    }

    /// Adds the route of everybody.
    func addPublic(to router: Router<AppRequestContext>) {
        router.limitedByAddress().get("/request-images/:key") { try await self.get($0, $1) }
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let owner = try context.requireIdentity().userID
        let id = try context.uuid("id")
        _ = try request.idempotencyKey()
        let file = try await self.desk.upload(in: request, context)
        let change = Change(
            preparing: { _ in try await self.keep(file, of: id, owner: owner, context) },
            then: { transaction, key in
                try await self.show(key, of: id, owner: owner, in: transaction)
                return try APIResponse(json: RequestImageResource(imageURL: key.requestImagePath))
            }
        )
        return try await self.once(request, context, change)
    }

    /// Keeps a picture, of which a job takes care if nothing shows it in the end.
    private func keep(
        _ file: [UInt8],
        of id: UUID,
        owner: UserID,
        _ context: AppRequestContext
    ) async throws -> ImageKey {
        guard try await self.store.find(id)?.owner == owner.uuid else { throw APIError.notFound }
        let picture = try await self.desk.picture(of: file, for: owner)
        let record = ImageRecord(key: .random(), owner: owner, contentType: picture.kind.contentType)
        try await self.database.transaction(as: owner, cause: context.cause) { transaction in
            try await self.images.announce(record, of: id, in: transaction)
            try await transaction.enqueue(
                TransactionJob.discardImage,
                key: record.key.text,
                subject: id.lowercased,
                after: Self.patience
            )
        }
        try await self.desk.keep(picture, as: record)
        return record.key
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let owner = try context.requireIdentity().userID
        let id = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            try await self.show(nil, of: id, owner: owner, in: transaction)
            return .noContent
        }
    }

    private func show(
        _ key: ImageKey?,
        of request: UUID,
        owner: UserID,
        in transaction: EventTransaction
    ) async throws {
        let replaced = try await self.images.show(key, of: request, owner: owner, in: transaction)
        guard let replaced, replaced != key else { return }
        try await transaction.enqueue(
            TransactionJob.discardImage,
            key: DiscardRequestImage.replacedKey(replaced),
            subject: request.lowercased
        )
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let key = context.parameters.get("key").flatMap({ ImageKey(reading: $0) }),
            let record = try await self.images.find(key)
        else { throw APIError.notFound(parameter: "key") }
        return try await self.desk.answer(record, to: request)
    }
}

/// PUT /payment-requests/{id}/image.
struct RequestImageResource: Encodable {
    let imageURL: String

    private enum CodingKeys: String, CodingKey {
        case imageURL = "image_url"
    }
}

extension ImageKey {
    /// Where the image of a request is, below the address of the API.
    var requestImagePath: String { "/request-images/\(self.text)" }
}
