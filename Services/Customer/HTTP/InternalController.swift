import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What other services and operators may ask on the internal port.
struct InternalController: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore
    let restrictUser: RestrictUser

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/users") { try await self.user($0, $1) }
        group.get("/beneficiaries/default") { try await self.defaultBeneficiary($0, $1) }
        group.put("/users/:user_id/restriction") { try await self.restrict($0, $1) }
    }

    private func user(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let name = request.uri.queryParameters.get("username").flatMap({ Username($0) }) else {
            throw APIError.invalid(parameter: "username", detail: "A username is 3 to 20 letters and digits.")
        }
        guard let found = try await self.users.find(username: name.text, on: self.database) else {
            throw CustomerError.userNotFound
        }
        return try APIResponse(json: InternalUser(found))
    }

    private func defaultBeneficiary(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let user = request.uri.queryParameters.get("user_id").flatMap({ UserID(text: $0) }) else {
            throw APIError.invalid(parameter: "user_id", detail: "A user id is a UUID.")
        }
        guard let found = try await self.beneficiaries.findDefault(user, on: self.database) else {
            throw CustomerError.beneficiaryNotFound
        }
        return try APIResponse(json: InternalBeneficiary(found))
    }

    private func restrict(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let body = try await request.decodeBody(as: RestrictionBody.self, context: context)
        let order = try RestrictionOrder(restriction: body.restriction, reason: body.reason)
        let audited = try OperatorOrder(request, context, reason: order.reason)
        try await self.database.transaction(cause: context.cause) { transaction in
            try await self.restrictUser(order, user: user, by: audited, in: transaction)
        }
        return .noContent
    }
}
