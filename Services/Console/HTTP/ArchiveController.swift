import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The archive itself for operators, on the internal port.
struct ArchiveController: Sendable {
    let reads: ArchiveReads
    let store: ArchiveStore
    let database: EventDatabase
    /// Nil where events come from the log.
    let importEvents: ImportEvents?
    let isFollowing: @Sendable () -> Bool

    private static let maximumGaps = 100

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/archive") { _, _ in try await self.status() }
        group.get("/archive/gaps") { _, _ in try await self.gaps() }
        group.post("/archive/backfills") { try await self.backfill($0, $1) }
        group.post("/archive/import") { try await self.take($0, $1) }
    }

    private func status() async throws -> APIResponse {
        let days = try await self.store.days(on: self.database)
        return try APIResponse(
            json: ArchiveResource(
                try await self.reads.status(),
                wholeFrom: try await self.reads.beginning(),
                days: days,
                isFollowing: self.isFollowing()
            )
        )
    }

    private func gaps() async throws -> APIResponse {
        let gaps = try await self.store.gaps(limit: Self.maximumGaps, on: self.database)
        return try APIResponse(json: GapList(data: gaps.map { GapResource($0.gap, $0.backfills) }))
    }

    private struct Order: Decodable {
        let from: String
    }

    /// Reads all outboxes from a moment on, as if the log had lost everything since.
    private func backfill(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let order = try await request.decodeBody(as: Order.self, context: context)
        guard let moment = Timestamp.parse(order.from) else {
            throw APIError.invalid("/from", detail: "A moment, such as 2026-11-21T01:07:05Z.")
        }
        try await self.database.transaction(cause: context.cause) {
            try await OpenGap(store: self.store)(.asked, nil, since: moment, in: $0)
        }
        return APIResponse(.accepted, headers: [.location: "/internal/archive/gaps"])
    }

    private struct Taken: Encodable {
        let seen: Int
        let added: Int
    }

    private func take(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let importEvents = self.importEvents else {
            throw APIError.conflict(
                "archive_reads_log",
                detail: "Only with ARCHIVE_READS_LOG=false."
            )
        }
        let body = try await request.rawBody(context: context, limit: ImportEvents.maximumBytes)
        guard !body.bytes.isEmpty else {
            throw APIError.invalid("", code: "not_an_event", detail: "The body is empty.")
        }
        do {
            let (seen, added) = try await importEvents(body.bytes, cause: context.cause)
            return try APIResponse(json: Taken(seen: seen, added: added))
        } catch let error as ImportEvents.BadLine {
            throw APIError.invalid(
                "",
                code: "not_an_event",
                detail: "Line \(error.number) is no event (\(error.reason.rawValue))."
            )
        }
    }
}
