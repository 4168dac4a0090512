import EventLoops
public import HTTPTypes

/// `http_server_request_duration_seconds` by route template, method and status.
public final class HTTPRequestMetrics: Sendable {
    private struct Key: Hashable {
        let route: String
        let method: String
        let status: Int
    }

    private static let methods: Set<String> = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]

    private let registry: PrometheusRegistry
    private let known = Locked<[Key: HistogramSeries]>([:])

    /// Records into a registry.
    public init(_ registry: PrometheusRegistry) {
        self.registry = registry
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
        let key = Key(route: route, method: method, status: status.code)
        self.histogram(key).record(duration.milliseconds / 1000)
    }

    private func histogram(_ key: Key) -> HistogramSeries {
        if let series = self.known.withLock({ $0[key] }) {
            return series
        }
        let labels = [("route", key.route), ("method", key.method), ("status", String(key.status))]
        let series = self.registry.histogram("http_server_request_duration_seconds", labels)
        self.known.withLock { $0[key] = series }
        return series
    }
}
