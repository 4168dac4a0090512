import CoreMetrics
import Logging
import Testing

@testable import ServiceKit

@Suite("metrics")
struct MetricsTests {
    @Test("counters, gauges and histograms are written in the text format")
    func text() {
        let registry = PrometheusRegistry()
        registry.makeCounter(label: "relay.events", dimensions: [("queue", "a\"b\\c\nd")]).increment(by: 3)
        registry.makeMeter(label: "jobs_waiting", dimensions: []).set(Int64(7))
        registry.makeRecorder(label: "batch_size", dimensions: [], aggregate: true).record(Int64(3))
        let timer = registry.makeTimer(label: "handle_seconds", dimensions: [("type", "user.created")])
        timer.recordNanoseconds(2_000_000)
        timer.recordNanoseconds(20_000_000_000)
        let lines = registry.text().split(separator: "\n").map(String.init)
        #expect(lines.contains("# TYPE relay_events_total counter"))
        #expect(lines.contains(#"relay_events_total{queue="a\"b\\c\nd"} 3"#))
        #expect(lines.contains("jobs_waiting 7"))
        #expect(lines.contains(#"batch_size_bucket{le="4"} 1"#))
        #expect(lines.contains(#"handle_seconds_bucket{type="user.created",le="0.001"} 0"#))
        #expect(lines.contains(#"handle_seconds_bucket{type="user.created",le="0.0025"} 1"#))
        #expect(lines.contains(#"handle_seconds_bucket{type="user.created",le="+Inf"} 2"#))
        #expect(lines.contains(#"handle_seconds_count{type="user.created"} 2"#))
        #expect(lines.contains(#"handle_seconds_sum{type="user.created"} 20.002"#))
    }

    @Test("the same name and labels are the same series")
    func sameSeries() {
        let registry = PrometheusRegistry()
        for _ in 0..<3 {
            registry.makeCounter(label: "a", dimensions: [("x", "1")]).increment(by: 1)
        }
        #expect(registry.text().contains("a_total{x=\"1\"} 3"))
    }

    @Test("label sets are bounded, the rest goes into one series")
    func bounded() {
        let registry = PrometheusRegistry(maximumSeries: 2)
        for index in 0..<5 {
            registry.makeCounter(label: "a", dimensions: [("x", "\(index)")]).increment(by: 1)
        }
        let text = registry.text()
        #expect(text.contains(#"a_total{overflow="true"} 3"#))
        #expect(!text.contains(#"x="3""#))
    }

    @Test("a name that is taken by another kind breaks nothing")
    func clash() {
        let registry = PrometheusRegistry()
        registry.makeMeter(label: "a", dimensions: []).set(1.5)
        registry.makeTimer(label: "a", dimensions: []).recordNanoseconds(1)
        #expect(registry.text().contains("a 1.5\n"))
    }

    @Test("readiness is shown check by check")
    func readiness() async {
        let (registry, readiness) = (PrometheusRegistry(), Readiness())
        let logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
        let metrics = ReadinessMetrics(readiness: readiness, registry: registry, logger: logger)
        readiness.add("redis", .informational) { false }
        await metrics.refresh()
        #expect(registry.text().contains("transfa_ready 1\n"))
        #expect(registry.text().contains(#"transfa_ready_check{check="redis"} 0"#))
        readiness.add("postgres") { false }
        await metrics.refresh()
        #expect(registry.text().contains("transfa_ready 0\n"))
        #expect(registry.text().contains(#"transfa_ready_check{check="running"} 1"#))
    }

    @Test("the process is described")
    func process() throws {
        let text = PrometheusRegistry().text()
        #expect(text.contains("process_open_fds "))
        #expect(try #require(ProcessMetrics.residentBytes()) > 1_000_000)
        #expect(text.contains("process_start_time_seconds "))
    }

    @Test("names are made fit")
    func names() {
        #expect(MetricName.metric("hb.requests-ok") == "hb_requests_ok")
        #expect(MetricName.metric("9a") == "_9a")
        #expect(MetricName.label("http.route") == "http_route")
    }
}
