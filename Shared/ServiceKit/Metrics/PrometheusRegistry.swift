public import CoreMetrics
import EventLoops

/// Collects metrics and writes them in the text format 0.0.4 of Prometheus.
///
/// Bounded: beyond `maximumSeries` label sets per metric, further ones are counted in one series labelled `overflow`.
public final class PrometheusRegistry: MetricsFactory {
    private enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    private struct Family {
        let kind: Kind
        var series: [String: any MetricSeries] = [:]
    }

    private let families = Locked<[String: Family]>([:])
    private let maximumSeries: Int

    /// Creates an empty registry.
    public init(maximumSeries: Int = 500) {
        self.maximumSeries = maximumSeries
    }

    /// A counter; its name gets the ending `_total`.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        self.series(Self.counterName(label), dimensions, .counter) { CounterSeries() } ?? CounterSeries()
    }

    /// A counter of fractions.
    public func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        self.series(Self.counterName(label), dimensions, .counter) { FloatingCounterSeries() }
            ?? FloatingCounterSeries()
    }

    /// A gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        self.series(MetricName.metric(label), dimensions, .gauge) { GaugeSeries() } ?? GaugeSeries()
    }

    /// A histogram of counts when aggregating, else a gauge.
    public func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        let name = MetricName.metric(label)
        guard aggregate else { return self.series(name, dimensions, .gauge) { GaugeSeries() } ?? GaugeSeries() }
        let bounds = name.hasSuffix("_seconds") ? HistogramSeries.secondsBounds : HistogramSeries.countBounds
        return self.series(name, dimensions, .histogram) { HistogramSeries(bounds: bounds) }
            ?? HistogramSeries(bounds: bounds)
    }

    /// A histogram in seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.histogram(MetricName.metric(label), dimensions)
    }

    /// Series live as long as the process.
    public func destroyCounter(_ handler: any CounterHandler) {}
    /// Series live as long as the process.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    /// Series live as long as the process.
    public func destroyMeter(_ handler: any MeterHandler) {}
    /// Series live as long as the process.
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Series live as long as the process.
    public func destroyTimer(_ handler: any TimerHandler) {}

    /// Everything, as text.
    public func text() -> String {
        let families = self.families.withLock { $0 }
        var lines: [String] = []
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            lines.append("# TYPE \(name) \(family.kind.rawValue)")
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                lines += series.lines(name: name, labels: labels)
            }
        }
        lines += ProcessMetrics.lines()
        return lines.joined(separator: "\n") + "\n"
    }

    func histogram(_ name: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        self.series(name, dimensions, .histogram) { HistogramSeries(bounds: HistogramSeries.secondsBounds) }
            ?? HistogramSeries(bounds: HistogramSeries.secondsBounds)
    }

    /// nil when the name is taken by a metric of another kind: then nothing is recorded, and nothing breaks.
    private func series<Series: MetricSeries>(
        _ name: String,
        _ dimensions: [(String, String)],
        _ kind: Kind,
        make: () -> Series
    ) -> Series? {
        let labels = dimensions.map { "\(MetricName.label($0.0))=\(MetricName.quoted($0.1))" }.joined(separator: ",")
        return self.families.withLock { families in
            var family = families[name] ?? Family(kind: kind)
            guard family.kind == kind else { return nil }
            let isFull = family.series[labels] == nil && family.series.count >= self.maximumSeries
            let key = isFull ? "overflow=\"true\"" : labels
            if let known = family.series[key] {
                return known as? Series
            }
            let made = make()
            family.series[key] = made
            families[name] = family
            return made
        }
    }

    private static func counterName(_ label: String) -> String {
        let name = MetricName.metric(label)
        return name.hasSuffix("_total") ? name : name + "_total"
    }
}
