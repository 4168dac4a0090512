import Contracts
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Rebuilds of projections for operators, on the internal port; followed and ended as replays.
struct RebuildController: Sendable {
    let desk: RebuildDesk

    /// So many events per second, unless somebody says otherwise.
    private static let usualRate = 5000

    /// Adds the route under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/rebuilds") { try await self.begin($0, $1) }
    }

    private struct Body: Decodable {
        let service: ServiceName
        let projection: String
        let rate: Int?
        let reason: String
    }

    private func begin(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: Body.self, context: context)
        let service = try PlanRequest.target(body.service)
        let rate = body.rate ?? Self.usualRate
        guard Replay.rates.contains(rate) else {
            throw APIError.invalid(
                "/rate",
                detail: "Events per second, \(Replay.rates.lowerBound) to \(Replay.rates.upperBound)."
            )
        }
        let order = try OperatorOrder(request, context, reason: body.reason)
        do {
            let replay = try await self.desk.begin(body.projection, of: service, rate: rate, by: order)
            return try APIResponse(
                .created,
                json: ReplayResource(replay),
                headers: [.location: "/internal/replays/\(replay.id.lowercased)"]
            )
        } catch let refusal as RebuildDesk.Refusal {
            throw refusal.answer
        } catch ReplayDesk.Refusal.underWay {
            throw APIError.conflict("replay_under_way", detail: "Another replay into this service is under way.")
        }
    }
}

extension RebuildDesk.Refusal {
    /// What operators are told.
    fileprivate var answer: APIError {
        switch self {
        case .unknownProjection: .invalid("/projection", detail: "The service declares no such projection.")
        case .unreachable: .unavailable("target_unavailable", retryAfter: 5)
        case .archiveHasGaps:
            .conflict("archive_has_gaps", detail: "The archive lacks events that are still being fetched.")
        case .archiveBeginsLater:
            .conflict(
                "archive_begins_later",
                detail: "The archive begins later than the projection: what came before would be lost."
            )
        }
    }
}
