import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What operators may do with the projection, on the internal port.
struct ProjectionController: Sendable {
    let rebuild: RebuildProjection

    /// The answer.
    private struct Resource: Encodable {
        let generation: Int
        let state: String
        let facts: Int
        let daysChanged: Int?
        let startedAt: String
        let finishedAt: String?

        init(_ rebuild: Rebuild) {
            self.generation = rebuild.generation
            self.state = rebuild.finishedAt == nil ? "building" : "live"
            self.facts = rebuild.facts
            self.daysChanged = rebuild.daysChanged
            self.startedAt = Timestamp.text(rebuild.startedAt)
            self.finishedAt = rebuild.finishedAt.map(Timestamp.text)
        }

        private enum CodingKeys: String, CodingKey {
            case generation
            case state
            case facts
            case daysChanged = "days_changed"
            case startedAt = "started_at"
            case finishedAt = "finished_at"
        }
    }

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/projection/rebuild") { _, _ in
            try APIResponse.accepted(
                location: "/internal/projection/rebuild",
                json: Resource(try await self.rebuild.begin())
            )
        }
        group.get("/projection/rebuild") { _, _ in
            guard let last = try await self.rebuild.store.last(on: self.rebuild.database) else {
                throw APIError.notFound
            }
            return try APIResponse(json: Resource(last))
        }
    }
}
