import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives

/// `/internal/ops`: what operators see of a service's messages and jobs, and do about them.
struct OperationsRoutes {
    static let defaultLimit = 100
    static let maximumLimit = 1000

    let operations: MessagingOperations

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        let ops = internalRoutes.group("/ops")
        ops.get("/outbox") { _, _ in InternalRoutes.json(.ok, try await self.operations.outbox()) }
        ops.get("/jobs") { request, _ in
            let state = request.uri.queryParameters["state"].map { String($0) }
            return InternalRoutes.json(.ok, try await self.operations.jobs(state: state, limit: Self.limit(request)))
        }
        ops.get("/parked") { _, _ in InternalRoutes.json(.ok, try await self.operations.parked()) }
        ops.get("/provider-calls") { request, _ in
            InternalRoutes.json(.ok, try await self.operations.providerCalls(limit: Self.limit(request)))
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

    private static func limit(_ request: Request) -> Int {
        let asked = request.uri.queryParameters["limit"].flatMap { Int($0) } ?? Self.defaultLimit
        return min(max(asked, 1), Self.maximumLimit)
    }
}
