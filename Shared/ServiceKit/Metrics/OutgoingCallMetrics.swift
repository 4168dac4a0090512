/// `http_client_request_duration_seconds` by host, and by the status or the reason why there is none.
public struct OutgoingCallMetrics: Sendable {
    private struct Key: Hashable {
        let host: String
        let result: String
    }

    private let durations: HistogramsByKey<Key>

    /// Records into a registry.
    public init(_ registry: PrometheusRegistry) {
        self.durations = HistogramsByKey(
            label: "http_client_request_duration_seconds",
            in: registry,
            by: { [("host", $0.host), ("result", $0.result)] }
        )
    }

    /// Records one call.
    public func record(_ duration: Duration, host: String, result: String) {
        self.durations.record(duration, for: Key(host: host, result: result))
    }
}
