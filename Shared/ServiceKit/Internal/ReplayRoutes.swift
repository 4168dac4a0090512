import Foundation
import Hummingbird
import Messaging
import Primitives

/// `/internal/ops/replay`: a batch of archived events is handled again; console sends them.
struct ReplayRoutes {
    let operations: MessagingOperations

    private static let maximumBytes = 4 * 1024 * 1024

    /// The first line of the body; envelopes follow, byte for byte.
    private struct Heading: Decodable {
        let replay: UUID
        let mode: ReplayOrder.Mode
        let effects: ReplayOrder.Effects
        let reason: String
    }

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        internalRoutes.post("/ops/replay") { try await self.replay($0, $1) }
    }

    private func replay(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        // Before the body is looked at: who acts is asked of everybody.
        _ = try request.operatorName()
        let body = try await request.rawBody(context: context, limit: Self.maximumBytes)
        let lines = body.bytes.split(separator: UInt8(ascii: "\n")).map { Data($0) }
        guard let first = lines.first, let heading = try? StrictJSONDecoder.decode(Heading.self, from: Array(first))
        else {
            throw APIError.invalid("", code: "invalid_body", detail: "The first line says which replay it is.")
        }
        guard lines.count <= MessagingOperations.replayedAtOnce + 1 else {
            throw APIError.invalid("", detail: "At most \(MessagingOperations.replayedAtOnce) events at once.")
        }
        let order = ReplayOrder(
            id: heading.replay,
            mode: heading.mode,
            effects: heading.effects,
            order: try OperatorOrder(request, context, reason: heading.reason, at: "")
        )
        do {
            return try APIResponse(json: try await self.operations.replay(Array(lines.dropFirst()), as: order))
        } catch ReplayProblem.notAnEvent(let line) {
            throw APIError.invalid("", code: "not_an_event", detail: "Line \(line + 1) is no event.")
        } catch ReplayProblem.busy {
            throw APIError.unavailable("locked", retryAfter: 1)
        }
    }
}
