import EventLoops
import Hummingbird

/// `/internal/ops/routes`: what the service answers, so that documents and code can be compared.
final class RouteListing: Sendable {
    private let open: RouteIndex
    /// Known once all internal routes are there, this one among them.
    private let closed = Locked<RouteIndex?>(nil)

    /// What the paths of a page begin with, which no document describes.
    private let page: String?

    init(public open: RouteIndex, page: String?) {
        self.open = open
        self.page = page
    }

    func add(to internalRoutes: RouterGroup<AppRequestContext>) {
        internalRoutes.get("/ops/routes") { _, _ in self.answer() }
    }

    func complete(_ closed: RouteIndex) {
        self.closed.withLock { $0 = closed }
    }

    private func answer() -> APIResponse {
        let open = self.open.names
        let ofPage = self.page.map { page in open.filter { $0.contains(" \(page)") } } ?? []
        var text = JSONText()
        text.object { document in
            Self.write(open.filter { !ofPage.contains($0) }, as: "public", to: &document)
            if self.page != nil { Self.write(ofPage, as: "page", to: &document) }
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
