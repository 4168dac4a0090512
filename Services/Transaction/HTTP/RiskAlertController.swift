import Hummingbird
import Messaging
import ServiceKit

/// Payments that stand out and that people should look at, on the internal port.
///
/// The header `Transfa-Operator` names who has looked.
struct RiskAlertController: Sendable {
    let store: RiskAlertStore
    let database: EventDatabase

    private static let maximumRows = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/risk-alerts") { _, _ in
            try APIResponse(json: try await self.store.open(limit: Self.maximumRows, on: self.database))
        }
        group.post("/risk-alerts/:id/clear") { try await self.clear($0, $1) }
    }

    private struct Clearing: Decodable {
        let note: String
    }

    private func clear(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let body = try await request.decodeBody(as: Clearing.self, context: context)
        let order = try OperatorOrder(request, context, reason: body.note, at: "/note")
        let word = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.clear(id, by: order, in: transaction)
        }
        switch word {
        case "cleared": return .noContent
        case "unknown": throw APIError.notFound
        default: throw APIError.conflict(word, detail: "Somebody has looked at it before.")
        }
    }
}
