import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives

/// What operators do on `/internal/ops`: each request says who acts and why, and stands in the audit.
extension OperationsRoutes {
    /// A week; inboxes remember longer.
    static let resendableMinutes = 1...10_080

    func addActs(to ops: RouterGroup<AppRequestContext>) {
        ops.post("/outbox/resend") { request, context in
            let body = try await request.decodeBody(as: Resend.self, context: context)
            guard Self.resendableMinutes.contains(body.minutes) else {
                throw APIError.invalid("/minutes", detail: "Name 1 to 10080 minutes.")
            }
            let order = try OperatorOrder(request, context, reason: body.reason)
            let count = try await self.operations.resendOutbox(sentWithin: .seconds(60 * body.minutes), by: order)
            return InternalRoutes.json(.ok, #"{"count":\#(count)}"#)
        }
        ops.post("/jobs/:id/release") { request, context in
            let (id, order) = try await Self.job(request, context)
            return try Self.changed(try await self.operations.releaseJob(id, by: order))
        }
        ops.post("/jobs/:id/cancel") { request, context in
            let (id, order) = try await Self.job(request, context)
            return try Self.changed(try await self.operations.cancelJob(id, by: order))
        }
        ops.post("/jobs/:id/retry") { request, context in
            let (id, order) = try await Self.job(request, context)
            return try Self.changed(try await self.operations.retryJob(id, by: order))
        }
        ops.post("/parked/retry") { request, context in
            let body = try await request.decodeBody(as: ParkedSubject.self, context: context)
            let order = try OperatorOrder(request, context, reason: body.reason)
            let (decision, result) = try await self.operations.retryParked(
                subject: body.subject,
                decision: body.decision,
                by: order
            )
            return try Self.answer(to: decision, result)
        }
        ops.post("/parked/discard") { request, context in
            let body = try await request.decodeBody(as: ParkedEvent.self, context: context)
            let order = try OperatorOrder(request, context, reason: body.reason)
            let isGone = try await self.operations.discardParked(subject: body.subject, event: body.event, by: order)
            return try Self.changed(isGone)
        }
    }

    private struct Resend: Decodable {
        let minutes: Int
        let reason: String
    }

    private struct ParkedSubject: Decodable {
        let subject: String
        let reason: String
        /// The operator's decision, so that a second click is no second decision.
        let decision: UUID?
    }

    private struct ParkedEvent: Decodable {
        let subject: String
        let event: UUID
        let reason: String
    }

    private static func job(
        _ request: Request,
        _ context: AppRequestContext
    ) async throws -> (id: UUID, order: OperatorOrder) {
        let id = try context.uuid("id")
        return (id, try await OperatorOrder(request, context))
    }

    private static func changed(_ isChanged: Bool) throws(APIError) -> APIResponse {
        guard isChanged else { throw .notFound }
        return .noContent
    }

    private static func answer(to decision: UUID, _ retry: ParkedRetry) throws(APIError) -> APIResponse {
        var (applied, reason): (Int?, String?) = (nil, nil)
        switch retry {
        case .applied(let count), .cutOff(let count): applied = count
        case .failedAgain(let count, let why): (applied, reason) = (count, why)
        case .nothingParked: break
        case .refused:
            throw .conflict("retry_in_progress", detail: "A retry of this subject is under way; wait for its end.")
        case .decisionUsed:
            throw .conflict("decision_used", detail: "This decision was about another subject; make a new one.")
        }
        var text = JSONText()
        text.object { document in
            document.member("decision", decision.lowercased)
            document.member("outcome", retry.word)
            if let applied { document.member("applied", Int64(applied)) }
            if let reason { document.member("reason", reason) }
        }
        return APIResponse(.ok, body: text.bytes)
    }
}
