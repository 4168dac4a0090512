import EventLoops

/// The histograms of one name, found again by what their labels are made of: looking them up by labels costs more.
final class HistogramsByKey<Key: Hashable & Sendable>: Sendable {
    private let registry: PrometheusRegistry
    private let name: String
    private let labels: @Sendable (Key) -> [(String, String)]
    private let known = Locked<[Key: HistogramSeries]>([:])

    init(
        label name: String,
        in registry: PrometheusRegistry,
        by labels: @escaping @Sendable (Key) -> [(String, String)]
    ) {
        self.registry = registry
        self.name = name
        self.labels = labels
    }

    func record(_ duration: Duration, for key: Key) { self.histogram(key).record(duration.milliseconds / 1000) }

    private func histogram(_ key: Key) -> HistogramSeries {
        if let series = self.known.withLock({ $0[key] }) { return series }
        let series = self.registry.histogram(self.name, self.labels(key))
        self.known.withLock { $0[key] = series }
        return series
    }
}
