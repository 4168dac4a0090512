import CoreMetrics
import EventLoops
import Synchronization

/// One series that can be written as text.
protocol MetricSeries: AnyObject, Sendable {
    /// The lines for this series; `labels` is the text between the braces.
    func lines(name: String, labels: String) -> [String]
}

/// Only ever goes up.
final class CounterSeries: MetricSeries, CounterHandler {
    private let value = Atomic<Int64>(0)

    func increment(by amount: Int64) { self.value.add(max(amount, 0), ordering: .relaxed) }
    func reset() { self.value.store(0, ordering: .relaxed) }

    func lines(name: String, labels: String) -> [String] {
        ["\(name)\(labels.braced) \(self.value.load(ordering: .relaxed))"]
    }
}

/// Goes up by fractions.
final class FloatingCounterSeries: MetricSeries, FloatingPointCounterHandler {
    private let value = Locked<Double>(0)

    func increment(by amount: Double) { self.value.withLock { $0 += max(amount, 0) } }
    func reset() { self.value.withLock { $0 = 0 } }

    func lines(name: String, labels: String) -> [String] {
        ["\(name)\(labels.braced) \(MetricName.number(self.value.withLock { $0 }))"]
    }
}

/// Goes up and down.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Locked<Double>(0)

    func set(_ value: Int64) { self.set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { self.value.withLock { $0 += amount } }
    func decrement(by amount: Double) { self.value.withLock { $0 -= amount } }
    func record(_ value: Int64) { self.set(value) }
    func record(_ value: Double) { self.set(value) }

    func lines(name: String, labels: String) -> [String] {
        ["\(name)\(labels.braced) \(MetricName.number(self.value.withLock { $0 }))"]
    }
}

/// Counts into buckets.
final class HistogramSeries: MetricSeries, TimerHandler, RecorderHandler {
    /// Seconds: from what a cached answer takes to the deadline of a request.
    static let secondsBounds: [Double] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
    /// Sizes and counts.
    static let countBounds: [Double] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384]

    private struct State {
        var counts: [Int64]
        var sum: Double = 0
    }

    private let bounds: [Double]
    private let state: Locked<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        self.state = Locked(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1e9) }
    func record(_ value: Int64) { self.record(Double(value)) }

    func record(_ value: Double) {
        let bucket = self.bounds.firstIndex { value <= $0 } ?? self.bounds.count
        self.state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func lines(name: String, labels: String) -> [String] {
        let (counts, sum) = self.state.withLock { ($0.counts, $0.sum) }
        var total: Int64 = 0
        var lines: [String] = []
        for (count, bound) in zip(counts, self.bounds + [.infinity]) {
            total += count
            let edge = "le=\"\(MetricName.number(bound))\""
            lines.append("\(name)_bucket{\(labels.isEmpty ? edge : labels + "," + edge)} \(total)")
        }
        lines.append("\(name)_sum\(labels.braced) \(MetricName.number(sum))")
        lines.append("\(name)_count\(labels.braced) \(total)")
        return lines
    }
}

extension String {
    fileprivate var braced: String { self.isEmpty ? "" : "{\(self)}" }
}
