import HTTPTypes
import Hummingbird
import ImageFiles
import Messaging
import ObjectStorage
import Primitives
import ServiceKit

/// The user's image: changed by its owner, seen by whoever knows its name.
struct ImageController: Sendable {
    let once: ChangeOnce
    /// As worker: names of images are public.
    let workers: EventDatabase
    let desk: ImageDesk
    let images: ImageStore
    let changeImage: ChangeImage

    /// Adds the routes of signed-in users.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.put("/users/me/image") { try await self.put($0, $1) }
        group.delete("/users/me/image") { try await self.delete($0, $1) }
    }

    /// Adds the route of everybody.
    func addPublic(to router: Router<AppRequestContext>) {
        router.limitedByAddress().get("/images/:key") { try await self.get($0, $1) }
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        _ = try request.idempotencyKey()
        let file = try await self.desk.upload(in: request, context)
        let change = Change(
            preparing: { _ in try await self.keep(file, of: user, context) },
            then: { transaction, key in
                try await self.changeImage.show(key, of: user, in: transaction)
                return try APIResponse(json: ImageResource(profileImageURL: key.path))
            }
        )
        return try await self.once(request, context, change)
    }

    /// Keeps a picture, of which a job takes care if nothing shows it in the end.
    private func keep(_ file: [UInt8], of user: UserID, _ context: AppRequestContext) async throws -> ImageKey {
        let picture = try await self.desk.picture(of: file, for: user)
        let record = ImageRecord(key: .random(), owner: user, contentType: picture.kind.contentType)
        try await self.once.database.transaction(as: user, cause: context.cause) { transaction in
            try await self.changeImage.announce(record, in: transaction)
        }
        try await self.desk.keep(picture, as: record)
        return record.key
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        return try await self.once(request, context) { transaction in
            try await self.changeImage.show(nil, of: user, in: transaction)
            return .noContent
        }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let key = context.parameters.get("key").flatMap({ ImageKey(reading: $0) }),
            let record = try await self.images.find(key, on: self.workers)
        else { throw APIError.notFound(parameter: "key") }
        return try await self.desk.answer(record, to: request)
    }
}

/// PUT /users/me/image.
struct ImageResource: Encodable {
    let profileImageURL: String

    private enum CodingKeys: String, CodingKey {
        case profileImageURL = "profile_image_url"
    }
}

extension ImageKey {
    /// Where the image is, below the address of the API.
    var path: String { "/images/\(self.text)" }
}
