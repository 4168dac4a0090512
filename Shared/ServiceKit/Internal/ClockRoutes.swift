import HTTPTypes
import Hummingbird
import Primitives

/// `/internal/ops/clock`: reads the service's clock and, in the sandbox profile only, moves it.
struct ClockRoutes {
    let clock: AdjustableClock
    let profile: ServiceSettings.Profile
    /// Moves the database's clock too, so that both agree.
    let moveDatabase: @Sendable (Duration) async throws -> Void

    private struct Move: Decodable {
        let offsetSeconds: Int64

        enum CodingKeys: String, CodingKey {
            case offsetSeconds = "offset_seconds"
        }
    }

    private static let longestMove: Int64 = 20 * 366 * 86_400

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        internalRoutes.get("/ops/clock") { _, _ in self.answer() }
        internalRoutes.put("/ops/clock") { request, context in
            guard self.profile == .sandbox else {
                throw APIError.forbidden("clock_is_real", detail: "Only the sandbox profile moves the clock.")
            }
            let move = try await request.decodeBody(as: Move.self, context: context)
            guard (-Self.longestMove...Self.longestMove).contains(move.offsetSeconds) else {
                throw APIError.invalid("/offset_seconds", detail: "At most 20 years either way.")
            }
            let offset = Duration.seconds(move.offsetSeconds)
            try await self.moveDatabase(offset)
            self.clock.offset = offset
            return self.answer()
        }
    }

    private func answer() -> APIResponse {
        var text = JSONText()
        text.object { document in
            document.member("now", Timestamp.text(self.clock.now))
            document.member("offset_seconds", self.clock.offset.components.seconds)
            document.member("profile", self.profile.rawValue)
        }
        return APIResponse(.ok, body: text.bytes)
    }
}
