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
    let readiness: Readiness
    let answered: IdempotencyMetrics

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        let ops = internalRoutes.group("/ops")
        ops.get("/status") { _, _ in try await self.status() }
        ops.get("/outbox/events") { request, _ in try await self.events(request) }
        ops.get("/outbox") { _, _ in InternalRoutes.json(.ok, try await self.operations.outbox()) }
        ops.get("/jobs") { request, _ in
            let limit = try Self.limit(request)
            return InternalRoutes.json(.ok, try await self.operations.jobs(Self.jobs(request), limit: limit))
        }
        ops.get("/jobs/:id") { _, context in
            guard let job = try await self.operations.job(try context.uuid("id")) else { throw APIError.notFound }
            return InternalRoutes.json(.ok, job)
        }
        ops.get("/parked") { request, _ in
            InternalRoutes.json(.ok, try await self.operations.parked(about: try Self.name("subject", request)))
        }
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
        ops.get("/audit") { request, context in try await self.audit(request, context) }
        ops.get("/audit/check") { _, _ in try APIResponse(json: try await self.operations.auditCheck()) }
        self.addTrace(to: ops)
        self.addProjections(to: ops)
        self.addActs(to: ops)
    }

    /// Version, readiness, what waits, and what came twice: what an overview of all services shows of each.
    private func status() async throws -> APIResponse {
        let messages = try await self.operations.status()
        let report = await self.readiness.report()
        var text = JSONText()
        text.object { document in
            document.member("version", ServiceVersion.text)
            document.member("is_ready", report.isReady)
            document.key("checks")
            document.object { checks in
                for check in report.checks { checks.member(check.name, check.isGood) }
            }
            document.key("messages")
            document.raw(messages)
            document.key("answered")
            document.raw(Self.text(of: self.answered.totals()))
        }
        return APIResponse(.ok, body: text.bytes)
    }

    /// An object of places, each an object of outcomes and their numbers, in the order of the names.
    static func text(of totals: [String: [String: Int]]) -> String {
        var text = JSONText()
        text.object { places in
            for (place, outcomes) in totals.sorted(by: { $0.key < $1.key }) {
                places.key(place)
                places.object { numbers in
                    for (outcome, number) in outcomes.sorted(by: { $0.key < $1.key }) {
                        numbers.member(outcome, Int64(number))
                    }
                }
            }
        }
        return String(decoding: text.bytes, as: UTF8.self)
    }

    /// Envelopes, one per line: whoever reads them needs them byte for byte.
    private func events(_ request: Request) async throws -> APIResponse {
        var after = Self.beforeAll
        if let text = request.uri.queryParameters.get("after") {
            guard let id = UUID(text: text) else {
                throw APIError.invalid(
                    parameter: "after",
                    detail: "An id, such as the answer before named."
                )
            }
            after = id
        }
        let events = try await self.operations.events(after: after, limit: try Self.limit(request))
        var headers: HTTPFields = [.contentType: "application/jsonl"]
        if let next = events.next { headers[.nextID] = next.lowercased }
        return APIResponse(.ok, body: Array(events.lines), headers: headers)
    }

    private static let beforeAll = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    private static let jobStates: Set<String> = ["queued", "running", "done", "failed", "cancelled", "skipped"]

    private static func state(_ request: Request) throws(APIError) -> String? {
        guard let text = request.uri.queryParameters.get("state") else { return nil }
        guard Self.jobStates.contains(text) else {
            let words = Self.jobStates.sorted().joined(separator: ", ")
            throw .invalid(parameter: "state", detail: "A state is one of: \(words).")
        }
        return text
    }

    private static func jobs(_ request: Request) throws(APIError) -> JobFilter {
        JobFilter(
            state: try Self.state(request),
            kind: try Self.name("kind", request),
            subject: try Self.name("subject", request),
            isDelayed: try Self.isDelayed(request)
        )
    }

    private static func isDelayed(_ request: Request) throws(APIError) -> Bool {
        switch request.uri.queryParameters.get("delayed") {
        case nil, "false": false
        case "true": true
        default: throw .invalid(parameter: "delayed", detail: "It is true or false.")
        }
    }

    private static func limit(_ request: Request) throws(APIError) -> Int {
        try request.limit(usual: Self.defaultLimit, maximum: Self.maximumLimit)
    }

    // MARK: The audit

    private struct AuditPage: Encodable {
        let data: [AuditedAct]
        let nextCursor: String?

        private enum CodingKeys: String, CodingKey {
            case data
            case nextCursor = "next_cursor"
        }
    }

    private func audit(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let paging = try Paging(request, context, usual: Self.defaultLimit, maximum: Self.maximumLimit)
        let acts = try await self.operations.audit(
            about: try Self.name("subject", request),
            before: try paging.position(),
            limit: paging.limit + 1
        )
        let page = acts.prefix(paging.limit)
        let isLast = page.count == acts.count
        return try APIResponse(
            json: AuditPage(
                data: Array(page),
                nextCursor: isLast ? nil : page.last.map { paging.cursor(after: $0.number) }
            )
        )
    }

    private static let longestName = 200

    private static func name(_ parameter: String, _ request: Request) throws(APIError) -> String? {
        guard let text = request.uri.queryParameters.get(parameter) else { return nil }
        guard (1...Self.longestName).contains(text.utf8.count),
            text.utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 && $0 != UInt8(ascii: "%") })
        else {
            throw .invalid(parameter: parameter, detail: "An id, a name or a reference: 1 to 200 visible characters.")
        }
        return text
    }
}
