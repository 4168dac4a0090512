import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The phones of the user that get pushes.
struct PushTokenController: Sendable {
    let database: EventDatabase
    let pushes: PushStore
    let registerToken: RegisterPushToken

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/push-tokens") { try await self.post($0, $1) }
        group.get("/push-tokens") { try await self.list($0, $1) }
        group.delete("/push-tokens/:id") { try await self.delete($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: PushTokenRequest.self, context: context)
        let token = try PushToken(checking: body.token)
        let registered = try await self.registerToken(token, device: body.deviceID, of: user, cause: context.cause)
        return try APIResponse(json: PushTokenResource(registered))
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let found = try await self.pushes.tokens(of: user, on: self.database)
        return try APIResponse(json: PushTokenList(data: found.map { PushTokenResource($0) }))
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        let isGone = try await self.database.transaction(as: user, cause: context.cause) { transaction in
            try await self.pushes.remove(id, of: user, in: transaction)
        }
        guard isGone else { throw NotificationError.pushTokenNotFound }
        return .noContent
    }
}

extension PushTokenResource {
    /// A token as its owner sees it.
    init(_ token: RegisteredToken) {
        self.init(id: token.id, deviceID: token.deviceID, registeredAt: Timestamp.text(token.registeredAt))
    }
}
