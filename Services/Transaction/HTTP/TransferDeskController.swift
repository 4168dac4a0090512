import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What operators see of transfers, and what two of them decide, on the internal port.
///
/// One proposes with a reason how a transfer ended, another approves. Descriptions and names are not shown.
struct TransferDeskController: Sendable {
    let store: TransferDeskStore
    let database: EventDatabase
    let ids: any IdentifierSource

    private static let defaultLimit = 100
    private static let maximumLimit = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/transfers") { request, _ in
            let limit = try request.limit(usual: Self.defaultLimit, maximum: Self.maximumLimit)
            return Self.json(.ok, try await self.store.list(try Self.state(request), limit: limit))
        }
        group.get("/transfers/:id") { _, context in
            guard let text = try await self.store.transfer(try context.uuid("id")) else { throw APIError.notFound }
            return Self.json(.ok, text)
        }
        group.get("/transfer-proposals") { _, _ in
            Self.json(.ok, try await self.store.proposals(limit: Self.maximumLimit))
        }
        group.post("/transfers/:id/proposals") { try await self.propose($0, $1) }
        group.post("/transfer-proposals/:id/approve") { try await self.approve($0, $1) }
        group.post("/transfer-proposals/:id/withdraw") { try await self.withdraw($0, $1) }
    }

    private struct Proposal: Decodable {
        let outcome: DecidedOutcome
        let reason: String
    }

    private struct Decided: Encodable {
        let id: String
        let state: String
    }

    private func propose(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let transfer = try context.uuid("id")
        let proposal = try await request.decodeBody(as: Proposal.self, context: context)
        let order = try OperatorOrder(request, context, reason: proposal.reason)
        let text = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.propose(self.ids.next(), about: transfer, proposal.outcome, by: order, in: transaction)
        }
        return Self.json(.created, text)
    }

    private func approve(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let proposal = try context.uuid("id")
        let name = try request.operatorName()
        let refusal = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.approve(proposal, by: name, in: transaction)
        }
        if let refusal { throw refusal }
        return try APIResponse(json: Decided(id: proposal.lowercased, state: "approved"))
    }

    private func withdraw(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let proposal = try context.uuid("id")
        let order = try await OperatorOrder(request, context)
        try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.withdraw(proposal, by: order, in: transaction)
        }
        return try APIResponse(json: Decided(id: proposal.lowercased, state: "withdrawn"))
    }

    // MARK: Parts

    private static func json(_ status: HTTPResponse.Status, _ text: String) -> APIResponse {
        APIResponse(status, body: Array(text.utf8), headers: [.contentType: "application/json"])
    }

    private static func state(_ request: Request) throws(APIError) -> TransferDeskStore.State {
        guard let text = request.uri.queryParameters.get("state") else { return .unknown }
        guard let state = TransferDeskStore.State(rawValue: text) else {
            let words = TransferDeskStore.State.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalid(parameter: "state", detail: "A state is one of: \(words).")
        }
        return state
    }
}
