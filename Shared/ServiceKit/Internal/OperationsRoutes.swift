import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives

/// `/internal/ops`: what operators see of a service's messages and jobs, and do about them.
struct OperationsRoutes {
    static let defaultLimit = 100
    static let maximumLimit = 1000
    /// A week; inboxes remember longer.
    static let resendableMinutes = 1...10_080

    let operations: MessagingOperations

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        let ops = internalRoutes.group("/ops")
        ops.get("/outbox") { _, _ in InternalRoutes.json(.ok, try await self.operations.outbox()) }
        ops.get("/jobs") { request, _ in
            let limit = try Self.limit(request)
            return InternalRoutes.json(.ok, try await self.operations.jobs(state: Self.state(request), limit: limit))
        }
        ops.get("/parked") { _, _ in InternalRoutes.json(.ok, try await self.operations.parked()) }
        ops.get("/provider-calls") { request, _ in
            InternalRoutes.json(.ok, try await self.operations.providerCalls(limit: try Self.limit(request)))
        }
        ops.get("/inbox") { request, _ in
            guard let id = request.uri.queryParameters["correlation"].flatMap({ UUID(text: $0) }) else {
                throw APIError.invalid(parameter: "correlation", detail: "Name a correlation id.")
            }
            return InternalRoutes.json(.ok, try await self.operations.handled(correlation: id))
        }
        ops.get("/requests/:correlation") { _, context in
            let id = try context.uuid("correlation")
            let published = try await self.operations.published(correlation: id)
            let handled = try await self.operations.handled(correlation: id)
            return InternalRoutes.json(.ok, #"{"published":\#(published),"handled":\#(handled)}"#)
        }
        self.addActions(to: ops)
    }

    private func addActions(to ops: RouterGroup<AppRequestContext>) {
        ops.post("/outbox/resend") { request, context in
            let minutes = try await request.decodeBody(as: Resend.self, context: context).minutes
            guard Self.resendableMinutes.contains(minutes) else {
                throw APIError.invalid("/minutes", detail: "Name 1 to 10080 minutes.")
            }
            let count = try await self.operations.resendOutbox(sentWithin: .seconds(60 * minutes))
            return InternalRoutes.json(.ok, #"{"count":\#(count)}"#)
        }
        ops.post("/jobs/:id/release") { _, context in
            try Self.changed(try await self.operations.releaseJob(try context.uuid("id")))
        }
        ops.post("/jobs/:id/cancel") { _, context in
            try Self.changed(try await self.operations.cancelJob(try context.uuid("id")))
        }
        ops.post("/parked/retry") { request, context in
            let body = try await request.decodeBody(as: ParkedSubject.self, context: context)
            return Self.answer(to: try await self.operations.retryParked(subject: body.subject))
        }
        ops.post("/parked/discard") { request, context in
            let body = try await request.decodeBody(as: ParkedEvent.self, context: context)
            let isGone = try await self.operations.discardParked(subject: body.subject, event: body.event)
            return try Self.changed(isGone)
        }
    }

    private struct Resend: Decodable {
        let minutes: Int
    }

    private struct ParkedSubject: Decodable {
        let subject: String
    }

    private struct ParkedEvent: Decodable {
        let subject: String
        let event: UUID
    }

    private static func changed(_ isChanged: Bool) throws(APIError) -> APIResponse {
        guard isChanged else { throw .notFound }
        return .noContent
    }

    private static func answer(to retry: ParkedRetry) -> APIResponse {
        var text = JSONText()
        text.object { document in
            switch retry {
            case .applied(let count):
                document.member("outcome", "applied")
                document.member("applied", Int64(count))
            case .failedAgain(let applied, let reason):
                document.member("outcome", "failed_again")
                document.member("applied", Int64(applied))
                document.member("reason", reason)
            case .refused: document.member("outcome", "refused")
            case .nothingParked: document.member("outcome", "nothing_parked")
            }
        }
        return APIResponse(.ok, body: text.bytes)
    }

    private static let jobStates: Set<String> = ["queued", "running", "done", "failed", "cancelled", "skipped"]

    private static func state(_ request: Request) throws(APIError) -> String? {
        guard let text = request.uri.queryParameters.get("state") else { return nil }
        guard Self.jobStates.contains(text) else {
            let words = Self.jobStates.sorted().joined(separator: ", ")
            throw .invalid(parameter: "state", detail: "A state is one of: \(words).")
        }
        return text
    }

    private static func limit(_ request: Request) throws(APIError) -> Int {
        guard let text = request.uri.queryParameters.get("limit") else { return Self.defaultLimit }
        guard let limit = Int(text), (1...Self.maximumLimit).contains(limit) else {
            throw .invalid(parameter: "limit", detail: "A limit is a number from 1 to \(Self.maximumLimit).")
        }
        return limit
    }
}
