import HTTPTypes
import Hummingbird

/// Which methods a path has, to tell 405 from 404.
///
/// Only asked when no route matched.
struct RouteIndex: Sendable {
    /// What the router writes as the endpoint path when nothing matched.
    static let notFound = "NotFound"

    private struct Entry: Sendable {
        let segments: [Substring]
        let method: HTTPRequest.Method
    }

    private let entries: [Entry]

    init(_ router: Router<AppRequestContext>) {
        // HEAD goes with GET.
        self.entries = router.routes.filter { $0.method != .head }.map { route in
            Entry(segments: route.path.description[...].split(separator: "/"), method: route.method)
        }
    }

    /// The methods that exist for a path; empty if there is none.
    ///
    /// As the router looks for it: where a word is a segment of its own, it is no parameter of another route.
    func methods(of path: String) -> [HTTPRequest.Method] {
        let segments = path.split(separator: "/")
        var found = self.entries
        for (place, segment) in segments.enumerated() {
            let words = found.filter { place < $0.segments.count && $0.segments[place] == segment }
            if !words.isEmpty { found = words }
        }
        let methods = found.filter { Self.matches($0.segments, segments) }.map(\.method)
        return methods.contains(.get) ? methods + [.head] : methods
    }

    /// Each route as the documents write it: `GET /devices/{id}`; sorted.
    var names: [String] {
        self.entries.map { entry in
            let path = entry.segments.map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
            return "\(entry.method.rawValue) /" + path.joined(separator: "/")
        }.sorted()
    }

    private static func matches(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        if pattern.last == "**" {
            return segments.count >= pattern.count && zip(pattern.dropLast(), segments).allSatisfy(Self.matches)
        }
        return pattern.count == segments.count && zip(pattern, segments).allSatisfy(Self.matches)
    }

    private static func matches(_ pattern: Substring, _ segment: Substring) -> Bool {
        pattern == segment || pattern == "*" || pattern.hasPrefix(":") || pattern.contains("{")
    }
}
