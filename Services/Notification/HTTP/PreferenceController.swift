import Contracts
import Hummingbird
import Messaging
import ServiceKit

/// What the user wants to hear.
struct PreferenceController: Sendable {
    let database: EventDatabase
    let preferences: PreferenceStore
    let once: ChangeOnce

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/notifications/preferences") { try await self.get($0, $1) }
        group.put("/notifications/preferences") { try await self.put($0, $1) }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let found = try await self.preferences.find(user, on: self.database)
        return try APIResponse(json: NotificationPreferencesResource(found))
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: NotificationPreferencesRequest.self, context: context)
        return try await self.once(request, context) { transaction in
            let wishes = try await self.preferences.lock(user, in: transaction).changed(by: body)
            try await self.preferences.save(wishes, of: user, in: transaction)
            return try APIResponse(json: NotificationPreferencesResource(wishes))
        }
    }
}

extension NotificationPreferencesResource {
    /// The wishes as their user sees them.
    init(_ wishes: NotificationPreferences) {
        let channels = { (category: NoticeCategory) in
            NotificationChannels(
                inApp: wishes.hears(category, on: .inApp),
                push: wishes.hears(category, on: .push),
                locked: category.isAlwaysHeard
            )
        }
        self.init(
            showAmounts: wishes.showsAmounts,
            categories: NotificationCategories(
                money: channels(.money),
                security: channels(.security),
                account: channels(.account),
                requests: channels(.requests),
                drops: channels(.drops),
                subscription: channels(.subscription)
            )
        )
    }
}
