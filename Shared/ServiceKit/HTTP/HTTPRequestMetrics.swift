public import HTTPTypes

/// `http_server_request_duration_seconds` by route template, method and status.
public final class HTTPRequestMetrics: Sendable {
    private struct Key: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    private static let methods: Set<String> = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]

    private let durations: HistogramsByKey<Key>

    /// Records into a registry.
    public init(_ registry: PrometheusRegistry) {
        self.durations = HistogramsByKey(
            label: "http_server_request_duration_seconds",
            in: registry,
            by: { [("route", $0.route), ("method", $0.method), ("status", String($0.status))] }
        )
    }

    /// Records one request.
    ///
    /// The route is a template, never a path: paths hold ids and have no bound.
    public func record(
        route: String,
        method: HTTPRequest.Method,
        status: HTTPResponse.Status,
        duration: Duration
    ) {
        // A client may invent methods without end.
        let method = Self.methods.contains(method.rawValue) ? method.rawValue : "other"
        self.durations.record(duration, for: Key(route: route, method: method, status: status.code))
    }
}
