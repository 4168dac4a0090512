import Contracts
import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What operators do about reported problems, on the internal port.
///
/// Lists hold no words of people; who reads them says why, and stands in the audit as who answers and closes does.
struct DisputeDeskController: Sendable {
    let store: DisputeStore
    let database: EventDatabase
    let view: DisputeView
    let clock: any TimeSource

    private static let defaultLimit = 100
    private static let maximumLimit = 1000

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/disputes") { try await self.list($0, $1) }
        group.post("/disputes/:id/read") { try await self.read($0, $1) }
        group.post("/disputes/:id/answer") { try await self.answer($0, $1) }
        group.post("/disputes/:id/close") { try await self.close($0, $1) }
    }

    private struct Entry: Encodable {
        let id: String
        let transactionID: String
        let userID: String
        let reason: String
        let state: String
        let openedAt: Date
        let dueAt: Date
        /// Whether it should have been answered.
        let overdue: Bool
        let answeredAt: Date?
        let outcome: String?
        let closedAt: Date?

        init(_ dispute: Dispute, now: Date) {
            self.id = dispute.id.lowercased
            self.transactionID = dispute.transaction.lowercased
            self.userID = dispute.user.lowercased
            self.reason = dispute.reason
            self.state = dispute.state
            self.openedAt = dispute.openedAt
            self.dueAt = dispute.dueAt
            self.overdue = dispute.state == "open" && dispute.dueAt <= now
            self.answeredAt = dispute.answeredAt
            self.outcome = dispute.outcome
            self.closedAt = dispute.closedAt
        }

        private enum CodingKeys: String, CodingKey {
            case id
            case transactionID = "transaction_id"
            case userID = "user_id"
            case reason
            case state
            case openedAt = "opened_at"
            case dueAt = "due_at"
            case overdue
            case answeredAt = "answered_at"
            case outcome
            case closedAt = "closed_at"
        }
    }

    /// What the audit says of a dispute.
    private struct Change: Encodable {
        let state: String
        let outcome: String?

        init(_ dispute: Dispute) { (self.state, self.outcome) = (dispute.state, dispute.outcome) }
    }

    private struct Words: Encodable {
        let text: String?
        let answer: String?
    }

    private struct AnswerBody: Decodable {
        let answer: String
        let reason: String
    }

    private struct ClosingBody: Decodable {
        let outcome: DisputeEnd
        let reason: String
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let word = request.uri.queryParameters.get("state")
        guard let filter = word.map({ DisputeStore.Filter(rawValue: $0) }) ?? .pending else {
            throw APIError.invalid(parameter: "state", detail: "pending or closed.")
        }
        let limit = try request.limit(usual: Self.defaultLimit, maximum: Self.maximumLimit)
        let disputes = try await self.store.list(filter, limit: limit)
        return try APIResponse(json: disputes.map { Entry($0, now: self.clock.now) })
    }

    private func read(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let order = try await OperatorOrder(request, context)
        guard let dispute = try await self.store.find(id) else { throw DisputeRefusal.unknown }
        let words = Words(text: try await self.view.text(of: dispute), answer: try await self.view.answer(to: dispute))
        // Written down before the words are shown.
        try await self.database.transaction(cause: context.cause) { transaction in
            try await transaction.record("dispute.read", on: id.lowercased, by: order)
        }
        return try APIResponse(json: words)
    }

    private func answer(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let body = try await request.decodeBody(as: AnswerBody.self, context: context)
        let text = try DisputeDraft.checked(body.answer, at: "/answer")
        let order = try OperatorOrder(request, context, reason: body.reason)
        guard let known = try await self.store.find(id) else { throw DisputeRefusal.unknown }
        let user = UserID(known.user)
        guard let sealed = try await self.view.sealed(text, field: SealedText.disputeAnswer, of: user) else {
            throw APIError.conflict("erased", detail: "Who reported it was erased. It can only be closed.")
        }
        return try await self.change("dispute.answered", order, context) { transaction in
            let change = try await self.store.answer(id, sealedText: sealed, in: transaction)
            let event = DisputeAnswered(
                disputeID: id,
                transactionID: change.after.transaction,
                userID: change.after.user,
                timestamp: Timestamp.text(transaction.now)
            )
            try await transaction.publish(event, about: id.lowercased)
            return change
        }
    }

    private func close(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let body = try await request.decodeBody(as: ClosingBody.self, context: context)
        let order = try OperatorOrder(request, context, reason: body.reason)
        return try await self.change("dispute.closed", order, context) { transaction in
            let change = try await self.store.close(id, body.outcome, in: transaction)
            let event = DisputeClosed(
                disputeID: id,
                transactionID: change.after.transaction,
                userID: change.after.user,
                outcome: Open(body.outcome),
                timestamp: Timestamp.text(transaction.now)
            )
            try await transaction.publish(event, about: id.lowercased)
            return change
        }
    }

    private func change(
        _ act: String,
        _ order: OperatorOrder,
        _ context: AppRequestContext,
        _ body: (EventTransaction) async throws -> DisputeStore.Change
    ) async throws -> APIResponse {
        let dispute = try await self.database.transaction(cause: context.cause) { transaction in
            let (before, after) = try await body(transaction)
            try await transaction.record(
                act,
                on: after.id.lowercased,
                before: Change(before),
                after: Change(after),
                by: order
            )
            return after
        }
        return try APIResponse(json: Entry(dispute, now: self.clock.now))
    }
}
