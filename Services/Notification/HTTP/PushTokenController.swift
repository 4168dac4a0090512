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
    let access: AccessStore
    let sealToken: SealPushToken
    let once: ChangeOnce

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/push-tokens") { try await self.post($0, $1) }
        group.get("/push-tokens") { try await self.list($0, $1) }
        group.delete("/push-tokens/:id") { try await self.delete($0, $1) }
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let user = identity.userID
        let body = try await request.decodeBody(as: PushTokenRequest.self, context: context)
        let token = try PushToken(checking: body.token)
        let change = Change(
            preparing: { _ in try await self.sealToken(token, of: user) },
            then: { transaction, sealed in
                try await self.access.check(session: identity.sessionID, of: user, in: transaction)
                if let device = body.deviceID { try await self.access.check(device, of: user, in: transaction) }
                let registered = try await self.pushes.register(
                    token,
                    sealed: sealed,
                    device: body.deviceID,
                    session: identity.sessionID,
                    of: user,
                    in: transaction
                )
                return try APIResponse(json: PushTokenResource(registered))
            }
        )
        return try await self.once(request, context, change)
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let found = try await self.pushes.tokens(of: user, on: self.database)
        return try APIResponse(json: PushTokenList(data: found.map { PushTokenResource($0) }))
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let id = try context.uuid("id")
        return try await self.once(request, context) { transaction in
            guard try await self.pushes.remove(id, of: user, in: transaction) else {
                throw NotificationError.pushTokenNotFound
            }
            return .noContent
        }
    }
}

extension PushTokenResource {
    /// A token as its owner sees it.
    init(_ token: RegisteredToken) {
        self.init(id: token.id, deviceID: token.deviceID, registeredAt: Timestamp.text(token.registeredAt))
    }
}
