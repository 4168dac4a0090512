import Contracts
import Hummingbird
import ServiceKit

/// Settings of the user.
struct SettingsController: Sendable {
    let once: ChangeOnce
    let users: CustomerUserStore
    let changeSettings: ChangeSettings

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/users/me/settings") { try await self.get($0, $1) }
        group.put("/users/me/settings") { try await self.put($0, $1) }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let known = try await self.users.find(user, as: user, on: self.once.database), !known.isErased else {
            throw CustomerError.notOnboarded
        }
        return try APIResponse(json: SettingsResource(known.settings))
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: SettingsRequest.self, context: context)
        let change = try SettingsChange(checking: body)
        return try await self.once(request, context) { transaction in
            try APIResponse(json: SettingsResource(try await self.changeSettings(change, user: user, in: transaction)))
        }
    }
}

extension SettingsResource {
    /// The settings on the wire.
    init(_ settings: UserSettings) {
        self.init(
            allowSending: settings.allowSending,
            receivingPreference: settings.receivingPreference.rawValue,
            whoMayRequest: settings.whoMayRequest.rawValue
        )
    }
}
