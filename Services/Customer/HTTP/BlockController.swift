import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Whom the user has blocked.
struct BlockController: Sendable {
    let once: ChangeOnce
    let profiles: ProfileStore
    let blocks: BlockStore
    let changeBlock: ChangeBlock

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/users/me/blocks") { try await self.list($0, $1) }
        let lookups = group.limited(.lookups)
        lookups.put("/users/:username/block") { request, context in
            try await self.change(request, context) { try await self.changeBlock.block($0, by: $1, in: $2) }
        }
        lookups.delete("/users/:username/block") { request, context in
            try await self.change(request, context) { try await self.changeBlock.unblock($0, by: $1, in: $2) }
        }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let found = try await self.blocks.list(user, limit: Int(ChangeBlock.limit), on: self.once.database)
        let names = try await self.profiles.names(of: found.map(\.id))
        return try APIResponse(
            json: BlockList(
                data: found.map { BlockResource(username: names[$0.id], blockedAt: Timestamp.text($0.since)) }
            )
        )
    }

    private func change(
        _ request: Request,
        _ context: AppRequestContext,
        _ act: @escaping @Sendable (UserID, UserID, EventTransaction) async throws -> Void
    ) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        _ = try request.idempotencyKey()
        guard let name = context.parameters.get("username").flatMap({ Username($0) }) else {
            throw APIError.notFound(parameter: "username")
        }
        let change = Change(
            preparing: { _ in
                // Also of somebody who has blocked the user: that must not be found out here.
                guard let other = try await self.profiles.find(name) else { throw CustomerError.userNotFound }
                return other.id
            },
            then: { transaction, other in
                try await act(other, user, transaction)
                return .noContent
            }
        )
        return try await self.once(request, context, change)
    }
}
