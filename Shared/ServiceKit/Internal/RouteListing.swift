import EventLoops
import Hummingbird

/// `/internal/ops/routes`: what the service answers, so that documents and code can be compared.
final class RouteListing: Sendable {
    private let open: RouteIndex
    /// Known once all internal routes are there, this one among them.
    private let closed = Locked<RouteIndex?>(nil)

    init(public open: RouteIndex) {
        self.open = open
    }

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        internalRoutes.get("/ops/routes") { _, _ in self.answer() }
    }

    func complete(_ closed: RouteIndex) {
        self.closed.withLock { $0 = closed }
    }

    private func answer() -> APIResponse {
        var text = JSONText()
        text.object { document in
            Self.write(self.open.names, as: "public", to: &document)
            Self.write(self.closed.withLock { $0?.names ?? [] }, as: "internal", to: &document)
        }
        return APIResponse(.ok, body: text.bytes)
    }

    private static func write(_ names: [String], as member: String, to document: inout JSONText) {
        document.key(member)
        document.array { list in
            for name in names {
                list.string(name)
            }
        }
    }
}
