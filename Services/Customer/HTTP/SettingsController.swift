import Contracts
import Hummingbird
import ServiceKit

/// Settings of the user.
struct SettingsController: Sendable {
    let mutation: Mutation
    let changeSettings: ChangeSettings

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.put("/users/me/settings") { try await self.put($0, $1) }
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: SettingsRequest.self, context: context)
        let change = try SettingsChange(checking: body)
        return try await self.mutation.run(request, context) { transaction in
            try APIResponse(json: SettingsResource(try await self.changeSettings(change, user: user, in: transaction)))
        }
    }
}

extension SettingsResource {
    /// The settings on the wire.
    init(_ settings: UserSettings) {
        self.init(allowSending: settings.allowSending, receivingPreference: settings.receivingPreference.rawValue)
    }
}
