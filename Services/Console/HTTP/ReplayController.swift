import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Replays for operators, on the internal port.
struct ReplayController: Sendable {
    let desk: ReplayDesk
    let store: ReplayStore
    let reads: ReplayReads
    let database: EventDatabase

    private static let usualLimit = 20
    private static let maximumLimit = 100
    private static let usualRows = 50
    private static let maximumRows = 500
    private static let kinds: Set<String> = ["row", "event", "job"]

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/replay-plans") { try await self.plan($0, $1) }
        group.post("/replays") { try await self.begin($0, $1) }
        group.get("/replays") { try await self.list($0, $1) }
        group.get("/replays/:id") { _, context in try APIResponse(json: ReplayResource(try await self.replay(context)))
        }
        group.get("/replays/:id/changes") { try await self.changes($0, $1) }
        group.get("/replays/:id/problems") { try await self.problems($0, $1) }
        group.post("/replays/:id/cancel") { try await self.cancel($0, $1) }
        group.post("/replays/:id/resume") { try await self.resume($0, $1) }
    }

    private func plan(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: PlanRequest.self, context: context)
        let service = try PlanRequest.target(body.service)
        let selection = try body.selection.checked()
        let plan = try await self.reads.plan(selection)
        return try APIResponse(json: PlanResource(plan, of: selection, for: service))
    }

    private func begin(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: ReplayRequest.self, context: context)
        let order = try body.order()
        let operatorOrder = try OperatorOrder(request, context, reason: body.reason)
        let replay = try await self.refusing { try await self.desk.begin(order, by: operatorOrder) }
        return try APIResponse(
            .created,
            json: ReplayResource(replay),
            headers: [.location: "/internal/replays/\(replay.id.lowercased)"]
        )
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let paging = try Paging(request, context, usual: Self.usualLimit, maximum: Self.maximumLimit)
        let replays = try await self.store.page(before: try paging.id(), limit: paging.limit + 1, on: self.database)
        let page = replays.prefix(paging.limit)
        let last = replays.count > paging.limit ? page.last : nil
        return try APIResponse(
            json: ReplayList(data: page.map(ReplayResource.init), nextCursor: last.map { paging.cursor(after: $0.id) })
        )
    }

    private func replay(_ context: AppRequestContext) async throws -> Replay {
        guard let replay = try await self.store.find(try context.uuid("id"), on: self.database) else {
            throw APIError.notFound(parameter: "id")
        }
        return replay
    }

    private func changes(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let kind = request.uri.queryParameters.get("kind")
        guard kind.map(Self.kinds.contains) ?? true else {
            throw APIError.invalid(parameter: "kind", detail: "One of row, event, job.")
        }
        let paging = try Paging(request, context, usual: Self.usualRows, maximum: Self.maximumRows)
        let number = paging.isContinued ? try paging.position() : 0
        let replay = try await self.replay(context)
        let limit = paging.limit + 1
        let rows = try await self.store.changes(
            of: replay.id,
            kind: kind,
            after: number,
            limit: limit,
            on: self.database
        )
        let page = rows.prefix(paging.limit)
        let last = rows.count > paging.limit ? page.last : nil
        // What the service told stays as it is; a number is put before it.
        let data = page.map { #"{"number":\#($0.number),\#($0.body.dropFirst())"# }.joined(separator: ",")
        let cursor = last.map { "\"\(paging.cursor(after: $0.number))\"" } ?? "null"
        return APIResponse(.ok, body: Array(#"{"data":[\#(data)],"next_cursor":\#(cursor)}"#.utf8))
    }

    private func problems(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let paging = try Paging(request, context, usual: Self.usualRows, maximum: Self.maximumRows)
        let number = paging.isContinued ? try paging.position() : 0
        let replay = try await self.replay(context)
        let limit = paging.limit + 1
        let rows = try await self.store.problems(of: replay.id, after: number, limit: limit, on: self.database)
        let page = rows.prefix(paging.limit)
        let last = rows.count > paging.limit ? page.last : nil
        return try APIResponse(
            json: TroubleList(
                data: page.map { TroubleResource($0.number, $0.problem) },
                nextCursor: last.map { paging.cursor(after: $0.number) }
            )
        )
    }

    private func cancel(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let order = try await OperatorOrder(request, context)
        return try APIResponse(
            json: ReplayResource(try await self.refusing { try await self.desk.cancel(id, by: order) })
        )
    }

    private func resume(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let id = try context.uuid("id")
        let order = try await OperatorOrder(request, context)
        return try APIResponse(
            json: ReplayResource(try await self.refusing { try await self.desk.resume(id, by: order) })
        )
    }

    private func refusing(_ body: () async throws -> Replay) async throws -> Replay {
        do {
            return try await body()
        } catch let refusal as ReplayDesk.Refusal {
            throw refusal.answer
        }
    }
}

extension ReplayDesk.Refusal {
    /// What operators are told.
    fileprivate var answer: APIError {
        switch self {
        case .unknown: .notFound(parameter: "id")
        case .underWay: .conflict("replay_under_way", detail: "Another replay into this service is under way.")
        case .notRunning: .conflict("replay_not_running", detail: "It has ended already.")
        case .finished: .conflict("replay_finished", detail: "It has finished: start another one.")
        }
    }
}
