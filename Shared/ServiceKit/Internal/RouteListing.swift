import EventLoops
import Hummingbird

/// `/internal/ops/routes`: what the service answers, and the query parameters that it takes, so that documents and code
/// can be compared.
final class RouteListing: Sendable {
    private let open: RouteIndex
    /// Known once all internal routes are there, this one among them.
    private let closed = Locked<RouteIndex?>(nil)

    /// The paths of pages, and what is below them, which no document describes.
    private let pages: [String]
    private let queries: RouteQueries

    init(public open: RouteIndex, pages: [String], queries: RouteQueries) {
        self.open = open
        self.pages = pages
        self.queries = queries
    }

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        internalRoutes.get("/ops/routes") { _, _ in self.answer() }
    }

    func complete(_ closed: RouteIndex) {
        self.closed.withLock { $0 = closed }
    }

    private func answer() -> APIResponse {
        let open = self.open.names
        let ofPage = open.filter { name in self.pages.contains { name.hasSuffix(" \($0)") || name.contains(" \($0)/") }
        }
        var text = JSONText()
        text.object { document in
            Self.write(open.filter { !ofPage.contains($0) }, as: "public", to: &document)
            if !self.pages.isEmpty { Self.write(ofPage, as: "page", to: &document) }
            let closed = self.closed.withLock { $0?.names ?? [] }
            Self.write(closed, as: "internal", to: &document)
            document.key("parameters")
            document.object { routes in
                let all = Set(open + closed)
                for (route, names) in self.queries.names.sorted(by: { $0.key < $1.key }) where all.contains(route) {
                    Self.write(names.sorted(), as: route, to: &routes)
                }
            }
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
