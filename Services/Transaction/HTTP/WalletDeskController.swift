import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What operators do about wallets that send nothing until somebody has looked, on the internal port.
struct WalletDeskController: Sendable {
    let store: WalletDeskStore
    let database: EventDatabase

    private static let defaultLimit = 100
    private static let maximumLimit = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/wallets/blocked") { request, _ in
            let limit = try request.limit(usual: Self.defaultLimit, maximum: Self.maximumLimit)
            let text = try await self.store.blocked(limit: limit)
            return APIResponse(.ok, body: Array(text.utf8), headers: [.contentType: "application/json"])
        }
        group.post("/wallets/:id/unblock") { try await self.unblock($0, $1) }
    }

    private struct Release: Decodable {
        let owed: Int64
        let reason: String
    }

    private struct Unblocked: Encodable {
        let userID: String
        let state: String

        private enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case state
        }
    }

    private func unblock(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.uuid("id")
        let body = try await request.decodeBody(as: Release.self, context: context)
        let order = try OperatorOrder(request, context, reason: body.reason)
        guard body.owed >= 0 else {
            throw APIError.invalid("/owed", detail: "Kobo, as the list of blocked wallets says.")
        }
        let unblocking = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.unblock(user, owing: body.owed, by: order, in: transaction)
        }
        switch unblocking {
        case .unblocked: return try APIResponse(json: Unblocked(userID: user.lowercased, state: unblocking.rawValue))
        case .missing: throw APIError.notFound
        case .notBlocked: throw APIError.conflict(unblocking.rawValue, detail: "The wallet is not blocked.")
        case .changed:
            throw APIError.conflict(unblocking.rawValue, detail: "Something else is owed now; look at it again.")
        case .belowZero:
            throw APIError.conflict(
                unblocking.rawValue,
                detail: "More has left the wallet than was there; money has to come in first."
            )
        }
    }
}
