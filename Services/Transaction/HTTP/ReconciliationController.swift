import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What operators ask about the provider's books and ours, on the internal port.
struct ReconciliationController: Sendable {
    let store: ReconciliationStore
    let database: EventDatabase

    /// Breaks of one answer; more than these are one problem and not many.
    static let maximumBreaks = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/reconciliations") { try await self.start($0, $1) }
        group.get("/reconciliations/breaks") { try await self.breaks($0, $1) }
        group.post("/reconciliations/breaks/:id/notes") { try await self.note($0, $1) }
    }

    private struct Order: Decodable {
        let userID: UserID?

        private enum CodingKeys: String, CodingKey {
            case userID = "user_id"
        }
    }

    private struct Asked: Encodable {
        let accounts: Int
    }

    private struct Breaks: Encodable {
        let breaks: [ReconciliationBreak]
        let open: Int
        let waiting: Int64
        let explained: MoneyExplained
    }

    private func start(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let order = try await request.decodeBody(as: Order.self, context: context)
        let name = try request.operatorName()
        let account = try await self.account(
            of: order.userID,
            orElse: .refused(
                "user_unknown",
                detail: "Nobody with this id has an account.",
                source: .pointer("/user_id")
            )
        )
        let count = try await self.database.transaction(cause: context.cause) { transaction in
            let count = try await self.store.ask(for: account, in: transaction)
            try await transaction.record(
                "reconciliation.asked",
                on: account ?? "all",
                after: ["accounts": count],
                by: OperatorOrder(name: name, reason: "To compare the books", request: context.requestID)
            )
            return count
        }
        return try APIResponse(.accepted, json: Asked(accounts: count))
    }

    private func breaks(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        var user: UserID?
        if let text = request.uri.queryParameters.get("user_id") {
            user = UserID(text: text)
            if user == nil { throw APIError.invalid(parameter: "user_id", detail: "A user id is a UUID.") }
        }
        let account = try await self.account(of: user, orElse: .notFound)
        // Before the breaks: what a look finds is committed with its end.
        let waiting = try await self.store.waiting(for: account)
        let breaks = try await self.store.breaks(of: account, limit: Self.maximumBreaks)
        let open = breaks.count { $0.state == "open" }
        let explained = try await self.store.explained(of: account)
        return try APIResponse(json: Breaks(breaks: breaks, open: open, waiting: waiting, explained: explained))
    }

    private struct Note: Decodable {
        let text: String
    }

    private func note(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: Note.self, context: context)
        let order = try OperatorOrder(request, context, reason: body.text, at: "/text")
        guard let id = context.parameters.get("id").flatMap({ Int64($0) }), id > 0,
            context.parameters.get("id") == String(id)
        else {
            throw APIError.notFound(parameter: "id")
        }
        let noted = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.store.note(id, by: order, in: transaction)
        }
        switch noted {
        case .written(let note): return try APIResponse(.created, json: note)
        case .unknown: throw APIError.notFound
        case .onlySuspected:
            throw APIError.conflict("only_suspected", detail: "A suspicion takes no notes: it may pass by itself.")
        }
    }

    private func account(of user: UserID?, orElse unknown: APIError) async throws -> String? {
        guard let user else { return nil }
        guard let account = try await self.store.account(of: user) else { throw unknown }
        return account
    }
}
