import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What operators do after a restore, on the internal port: see what is missing, accept what nobody can make
/// good, and end the recovery.
struct RecoveryController: Sendable {
    let store: RecoveryStore
    let database: EventDatabase

    private static let defaultLimit = 100
    private static let maximumLimit = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/recoveries") { try await self.begin($0, $1) }
        group.get("/recoveries/newest") { _, _ in
            guard let text = try await self.store.state() else { throw APIError.notFound }
            return Self.json(text)
        }
        group.get("/recoveries/:id/forgotten") { request, context in
            let limit = try request.limit(usual: Self.defaultLimit, maximum: Self.maximumLimit)
            let id = try context.uuid("id")
            guard try await self.store.state(of: id) != nil else { throw APIError.notFound }
            return Self.json(try await self.store.forgotten(id, limit: limit))
        }
        group.post("/recoveries/:id/accounts/:account/accept") { try await self.accept($0, $1) }
        group.post("/recoveries/:id/end") { try await self.end($0, $1) }
    }

    private struct Beginning: Decodable {
        let restoredTo: String
        let reason: String

        private enum CodingKeys: String, CodingKey {
            case restoredTo = "restored_to"
            case reason
        }
    }

    private func begin(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: Beginning.self, context: context)
        let order = try OperatorOrder(request, context, reason: body.reason)
        guard let moment = Timestamp.parse(body.restoredTo) else {
            throw APIError.invalid("/restored_to", detail: "A moment, such as 2026-05-15T11:00:00Z.")
        }
        let id = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.begin(moment, by: order, in: transaction)
        }
        return Self.json(try await self.store.state(of: id) ?? "{}")
    }

    private struct Acceptance: Decodable {
        let mark: String
        let reason: String
    }

    private func accept(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        guard let account = context.parameters.get("account"),
            account.wholeMatch(of: /[A-Za-z0-9_.:-]{1,128}/) != nil
        else { throw APIError.notFound(parameter: "account") }
        let body = try await request.decodeBody(as: Acceptance.self, context: context)
        let order = try OperatorOrder(request, context, reason: body.reason)
        guard body.mark.wholeMatch(of: /[0-9a-f]{8}/) != nil else {
            throw APIError.invalid("/mark", detail: "The eight digits by which the recovery names what differs.")
        }
        let acceptance = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.accept(account, body.mark, of: id, by: order, in: transaction)
        }
        switch acceptance {
        case .accepted: return Self.json(try await self.store.state(of: id) ?? "{}")
        case .noRecovery, .missing: throw APIError.notFound(parameter: "account")
        case .ended: throw APIError.conflict("ended", detail: "The recovery has ended.")
        case .notLookedAt:
            throw APIError.conflict(
                "not_looked_at",
                detail: "What was under way may not have arrived; wait for a look."
            )
        case .changed:
            throw APIError.conflict("changed", detail: "Something else differs now; look at the recovery again.")
        case .agrees: throw APIError.conflict("agrees", detail: "The account agrees; there is nothing to accept.")
        }
    }

    private func end(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let order = try await OperatorOrder(request, context)
        let ending = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.end(id, by: order, in: transaction)
        }
        switch ending {
        case .ended: return Self.json(try await self.store.state(of: id) ?? "{}")
        case .missing: throw APIError.notFound
        case .incomplete:
            throw APIError.conflict("incomplete", detail: "Not everything agrees yet; the status says what is missing.")
        }
    }

    private static func json(_ text: String) -> APIResponse {
        APIResponse(.ok, body: Array(text.utf8), headers: [.contentType: "application/json"])
    }
}
