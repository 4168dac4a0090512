import Contracts
import Foundation
import HTTPTypes
import Hummingbird
import Messaging
import Primitives

/// `/internal/ops/projections`: what a service derives from events alone, and how it is made again.
///
/// Console orders a rebuild, sends the archive's events page by page, and ends it; a page may be sent again.
extension OperationsRoutes {
    /// A page of events has no more bytes.
    private static let longestPage = 8 * 1024 * 1024

    /// Adds the routes, where there is something that can be made again.
    func addProjections(to ops: RouterGroup<AppRequestContext>) {
        guard !self.operations.projections.isEmpty else { return }
        ops.get("/projections") { _, _ in
            try APIResponse(json: ProjectionList(data: try await self.operations.projections.status()))
        }
        ops.post("/projections/:name/rebuilds") { try await self.begin($0, $1) }
        let one = ops.group("/projections/:name/rebuilds/:replay")
        one.post("/events") { try await self.take($0, $1) }
        one.post("/finish") { try await self.finish($0, $1) }
        one.post("/cancel") { request, context in
            let replay = try context.uuid("replay")
            let order = try await OperatorOrder(request, context)
            let name = try self.projection(context)
            let gone = try await Self.mapping {
                try await self.operations.projections.cancel(name, of: replay, by: order)
            }
            return try APIResponse(json: RebuildResource(gone))
        }
    }

    private struct Begin: Decodable {
        let replay: UUID
        let archiveFrom: String?
        let reason: String

        private enum CodingKeys: String, CodingKey {
            case replay, reason
            case archiveFrom = "archive_from"
        }
    }

    private func begin(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: Begin.self, context: context)
        let beginning = try body.archiveFrom.map { text throws(APIError) in
            guard let moment = Timestamp.parse(text) else {
                throw APIError.invalid("/archive_from", detail: "A moment, such as 2026-11-21T01:07:05Z.")
            }
            return moment
        }
        let order = try OperatorOrder(request, context, reason: body.reason)
        let name = try self.projection(context)
        let rebuild = try await Self.mapping {
            try await self.operations.projections.begin(name, of: body.replay, archiveFrom: beginning, by: order)
        }
        return try APIResponse(json: RebuildResource(rebuild))
    }

    private struct Taken: Encodable {
        let applied: Int
    }

    private func take(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let replay = try context.uuid("replay")
        let name = try self.projection(context)
        let body = try await request.rawBody(context: context, limit: Self.longestPage)
        let lines = body.bytes.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        guard (1...Projections.maximumPage).contains(lines.count) else {
            throw APIError.invalid("", detail: "1 to \(Projections.maximumPage) events, one per line.")
        }
        let applied = try await Self.mapping {
            try await self.operations.projections.take(lines, for: name, of: replay)
        }
        return try APIResponse(json: Taken(applied: applied))
    }

    private func finish(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let replay = try context.uuid("replay")
        let order = try await OperatorOrder(request, context)
        let name = try self.projection(context)
        let end = try await Self.mapping {
            try await self.operations.projections.finish(name, of: replay, by: order)
        }
        switch end {
        case .live(let rebuild):
            return try APIResponse(json: RebuildEndResource(missing: 0, rebuild: RebuildResource(rebuild)))
        case .missing(let count): return try APIResponse(json: RebuildEndResource(missing: count, rebuild: nil))
        }
    }

    private func projection(_ context: AppRequestContext) throws(APIError) -> String {
        guard let name = context.parameters.get("name"), self.operations.projections.contains(name) else {
            throw .notFound(parameter: "name")
        }
        return name
    }

    /// What a rebuild's problems are in HTTP.
    private static func mapping<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let problem as RebuildProblem {
            throw Self.error(problem)
        }
    }

    private static func error(_ problem: RebuildProblem) -> APIError {
        switch problem {
        case .unknownProjection: .notFound(parameter: "name")
        case .underWay: .conflict("rebuild_under_way", detail: "Another rebuild of this projection is under way.")
        case .notUnderWay: .conflict("rebuild_not_under_way", detail: "This rebuild has ended, or never began.")
        case .archiveBeginsLater(let archive, let projection):
            .conflict(
                "archive_begins_later",
                detail: "The archive is whole from \(Timestamp.text(archive)) on, and the projection has events since "
                    + "\(Timestamp.text(projection)): what came before would be lost."
            )
        case .notAnEvent(let line):
            .invalid("", code: "not_an_event", detail: "Line \(line) is no event.")
        case .notApplicable(let reason):
            .conflict("event_not_applicable", detail: "An event of this page cannot be applied (\(reason)).")
        }
    }
}

/// The projections of a service as JSON.
private struct ProjectionList: Encodable {
    let data: [Item]

    init(data: [ProjectionStatus]) { self.data = data.map(Item.init) }

    struct Item: Encodable {
        let name: String
        let tables: [String]
        let types: [String]
        let generation: Int
        let since: String
        let rebuild: RebuildResource?

        init(_ status: ProjectionStatus) {
            self.name = status.projection.name
            self.tables = status.projection.tables
            self.types = status.projection.types.map(\.rawValue).sorted()
            self.generation = status.generation
            self.since = Timestamp.text(status.since)
            self.rebuild = status.rebuild.map(RebuildResource.init)
        }
    }
}

/// A rebuild as JSON.
private struct RebuildResource: Encodable {
    let generation: Int
    let replay: String
    let state: String
    let applied: Int
    let known: Int
    let rowsChanged: Int?
    let orderedBy: String
    let reason: String
    let startedAt: String
    let finishedAt: String?

    init(_ rebuild: ProjectionRebuild) {
        self.generation = rebuild.generation
        self.replay = rebuild.replay.lowercased
        self.state = rebuild.state.rawValue
        self.applied = rebuild.applied
        self.known = rebuild.known
        self.rowsChanged = rebuild.rowsChanged
        self.orderedBy = rebuild.orderedBy
        self.reason = rebuild.reason
        self.startedAt = Timestamp.text(rebuild.startedAt)
        self.finishedAt = rebuild.finishedAt.map(Timestamp.text)
    }

    private enum CodingKeys: String, CodingKey {
        case generation, replay, state, applied, known, reason
        case rowsChanged = "rows_changed"
        case orderedBy = "ordered_by"
        case startedAt = "started_at"
        case finishedAt = "finished_at"
    }
}

/// How an attempt to end a rebuild went: nothing is missing and people see it, or so many events are.
private struct RebuildEndResource: Encodable {
    let missing: Int
    let rebuild: RebuildResource?
}
