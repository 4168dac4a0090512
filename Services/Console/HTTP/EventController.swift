import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// Events for operators, on the internal port.
struct EventController: Sendable {
    let reads: ArchiveReads
    let feed: ReadFeed
    let trace: FollowTrace

    private static let usualLimit = 50
    private static let maximumLimit = 500
    private static let maximumFeed = 1000
    /// Below the deadline of a request.
    private static let waits = 1...25

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/archive/events") { try await self.list($0, $1) }
        group.get("/archive/events/:id") { try await self.show($0, $1) }
        group.get("/archive/feed") { try await self.follow($0, $1) }
        group.get("/archive/traces/:id") { try await self.trace($0, $1) }
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let paging = try Paging(request, context, usual: Self.usualLimit, maximum: Self.maximumLimit)
        let filter = try EventFilter(request)
        let events = try await self.reads.page(filter, before: try paging.id(), limit: paging.limit + 1)
        let page = events.prefix(paging.limit)
        let last = events.count > paging.limit ? page.last : nil
        return EventListText.list(page, nextCursor: last.map { paging.cursor(after: $0.id) })
    }

    private func show(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let event = try await self.reads.event(try context.uuid("id")) else {
            throw APIError.notFound(parameter: "id")
        }
        return EventListText.one(event)
    }

    /// Forwards, and from the end on: the cursor always leads on.
    private func follow(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let paging = try Paging(request, context, usual: Self.usualLimit, maximum: Self.maximumFeed)
        let filter = try EventFilter(request)
        let patience = try Self.wait(request)
        let isLines = try Self.word(request, "format", ["json", "lines"]) == "lines"
        let start: Int64 =
            if paging.isContinued {
                try paging.position()
            } else {
                try Self.word(request, "begin", ["start", "end"]) == "end" ? try await self.reads.head() : 0
            }
        do {
            let page = try await self.feed(filter, after: start, limit: paging.limit, waiting: patience)
            let cursor = paging.cursor(after: page.position)
            return isLines
                ? EventListText.lines(page.events, nextCursor: cursor)
                : EventListText.list(page.events, nextCursor: cursor)
        } catch is ReadFeed.TooManyWaiting {
            throw APIError.unavailable("too_many_waiting", retryAfter: 5)
        }
    }

    private static func wait(_ request: Request) throws(APIError) -> Duration {
        .seconds(try request.number("wait", in: Self.waits) ?? 0)
    }

    /// One of some words; the first when none is given.
    private static func word(_ request: Request, _ parameter: String, _ words: [String]) throws(APIError) -> String {
        guard let text = request.uri.queryParameters.get(parameter) else { return words[0] }
        guard words.contains(text) else {
            throw .invalid(parameter: parameter, detail: "One of \(words.joined(separator: ", ")).")
        }
        return text
    }

    private func trace(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let key = context.parameters.get("id").flatMap({ TraceKey($0) }) else {
            throw APIError.notFound(parameter: "id")
        }
        guard let trace = try await self.trace(key) else { throw APIError.notFound(parameter: "id") }
        return try APIResponse(json: TraceResource(trace, of: key))
    }
}
