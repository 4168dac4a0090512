import Hummingbird

/// Which query parameters each route takes: a route that is not named takes none.
///
/// A parameter that nobody reads would be passed over in silence, and the answer be about something else.
public struct RouteQueries: Sendable {
    /// By the name of the route as documents write it, `GET /devices/{id}`.
    let names: [String: [String]]
    private let ofRoutes: [String: Set<String>]
    private let free: [String]

    /// Names the parameters.
    ///
    /// - Parameters:
    ///   - names: By route, as documents write it: `GET /devices/{id}`.
    ///   - free: Paths that, with what is below them, take whatever comes: those of pages, and of what others send us.
    public init(_ names: [String: [String]] = [:], free: [String] = []) {
        self.names = names
        self.ofRoutes = Dictionary(uniqueKeysWithValues: names.map { (Self.key($0.key), Set($0.value)) })
        self.free = free
    }

    /// These and others.
    func and(_ others: RouteQueries) -> RouteQueries {
        RouteQueries(self.names.merging(others.names) { $0 + $1 }, free: self.free + others.free)
    }

    /// As the router writes it: `GET /devices/:id`.
    private static func key(_ name: String) -> String {
        String(name.compactMap { $0 == "{" ? ":" : $0 == "}" ? nil : $0 })
    }

    /// Looks at the query of a request before anything is done.
    ///
    /// The path is the route's, as the router writes it.
    ///
    /// - Throws: 400 that names the parameter: one that the route does not take, one that is there twice, one that is
    ///   not percent-encoded UTF-8.
    func check(_ request: Request, at path: String) throws(APIError) {
        guard let query = request.uri.query, !query.isEmpty, !self.isFree(path) else { return }
        // What HEAD asks is what GET asks.
        let method = request.method == .head ? "GET" : request.method.rawValue
        let taken = self.ofRoutes["\(method) \(path)"] ?? []
        var seen: Set<String> = []
        for part in query.split(separator: "&", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pieces[0])
            guard taken.contains(name) else { throw Self.unknown(name) }
            guard seen.insert(name).inserted else {
                throw .invalid(parameter: name, detail: "This parameter is there twice.")
            }
            guard pieces.count == 1 || PercentEncoding.isText(pieces[1].utf8) else {
                throw .invalid(parameter: name, detail: "Percent-encode it as UTF-8.")
            }
        }
    }

    private func isFree(_ path: String) -> Bool {
        self.free.contains { path == $0 || path.hasPrefix($0 + "/") }
    }

    /// A name that no parameter of ours can have is not repeated: somebody has typed it into the wrong place.
    private static func unknown(_ name: String) -> APIError {
        var error = APIError.invalid(
            parameter: name,
            detail: "There is no such parameter here; look for a slip in its name."
        )
        if !StrictJSONParser.couldBeOurs(name) { error.source = nil }
        return error
    }
}
