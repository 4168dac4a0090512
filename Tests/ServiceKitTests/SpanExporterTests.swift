import EventLoops
import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import Primitives
import ServiceLifecycle
import TestSupport
import Testing

@testable import ServiceKit

@Suite("Spans over OTLP")
struct SpanExporterTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let caller = "00-\(Self.trace)-00f067aa0ba902b7-01"

    @Test("a request is sent as a span below its caller's, in OTLP's JSON and with the headers that were asked for")
    func request() async throws {
        try await Self.withCollector { collector, endpoint in
            let variables = [
                "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%2Cb, x-team=pay",
                "TRUSTED_PROXIES": "127.0.0.1",
            ]
            let own = try await withRunningHost(variables: variables, routes: Self.greet) { running in
                let reply = try await running.get("/greet/zuri", headers: ["traceparent": Self.caller])
                _ = try await running.get("/nowhere/zuri")
                // Asked by a trace that nobody keeps.
                _ = try await running.get("/greet/bola", headers: ["traceparent": Self.caller.dropLast(2) + "00"])
                _ = try await running.send(.get, running.internalURL + "/health/live")
                try await eventually("two spans") { collector.spans.count >= 2 }
                return reply.header("traceparent")
            }
            let spans = collector.spans
            #expect(Set(spans.map(\.name)) == ["GET /greet/{name}", "_OTHER unknown"])
            let span = try #require(spans.first { $0.traceId == Self.trace })
            #expect(span.parentSpanId == "00f067aa0ba902b7" && span.kind == 2 && span.status == nil)
            #expect(own == "00-\(Self.trace)-\(span.spanId)-01")
            let status = span.attributes.first { $0.key == "http.response.status_code" }
            #expect(status?.value.intValue == "200")
            let (start, end) = (try #require(Int64(span.startTimeUnixNano)), try #require(Int64(span.endTimeUnixNano)))
            #expect(start < end && abs(Double(start) / 1e9 - Date().timeIntervalSince1970) < 60)
            #expect(!collector.bodies.contains { $0.contains("zuri") || $0.contains("bola") })
            #expect(collector.services == ["test"])
            #expect(collector.headers.allSatisfy { $0["x-key"] == "a,b" && $0["x-team"] == "pay" })
        }
    }

    @Test("a collector that is busy is asked again, and no span is lost or doubled")
    func busy() async throws {
        try await Self.withCollector(answers: [503, 429]) { collector, endpoint in
            let registry = PrometheusRegistry()
            try await Self.running(endpoint, registry) { exporter in
                for number in 0..<3 { exporter.record(Self.span("\(number)")) }
                try await eventually("three spans", within: .seconds(20)) { collector.spans.count == 3 }
            }
            #expect(collector.spans.map(\.name) == ["0", "1", "2"])
            #expect(collector.bodies.count == 3)
            #expect(Self.dropped(registry) == [0, 0, 0])
        }
    }

    @Test("what a collector refuses is counted and not sent again")
    func refused() async throws {
        try await Self.withCollector(answers: [400]) { collector, endpoint in
            let registry = PrometheusRegistry()
            try await Self.running(endpoint, registry) { exporter in
                exporter.record(Self.span("refused"))
                try await eventually("a refusal") { Self.dropped(registry) == [0, 1, 0] }
                exporter.record(Self.span("taken"))
                try await eventually("the next") { collector.spans.map(\.name) == ["taken"] }
            }
        }
    }

    @Test("what waits at the end is sent before the process goes")
    func end() async throws {
        try await Self.withCollector { collector, endpoint in
            try await Self.running(endpoint, PrometheusRegistry()) { exporter in
                for number in 0..<1200 { exporter.record(Self.span("\(number)")) }
            }
            #expect(collector.spans.count == 1200)
        }
    }

    @Test("without a collector spans are counted as lost, and no more wait than there is room for")
    func away() async throws {
        let registry = PrometheusRegistry()
        let endpoint = "http://127.0.0.1:\(try freePort())"
        try await Self.running(endpoint, registry) { exporter in
            exporter.record(Self.span("lost"))
            try await eventually("a lost span", within: .seconds(20)) { Self.dropped(registry) == [0, 0, 1] }
        }
        let idle = try #require(try Self.exporter(endpoint, registry))
        for _ in 0..<SpanExporter.capacity + 2 { idle.record(Self.span("many")) }
        #expect(Self.dropped(registry) == [2, 0, 1])
    }

    @Test(
        "settings that cannot be followed stop the start, by name",
        arguments: [
            ("ENDPOINT", "collector:4318"), ("HEADERS", "no value"), ("HEADERS", "x=%0d%0ay"), ("PROTOCOL", "grpc"),
        ]
    )
    func badSettings(name: String, value: String) throws {
        let variable = "OTEL_EXPORTER_OTLP_\(name)"
        let own = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"].merging([variable: value]) { $1 }
        let reader = SettingsReader(plainVariables.merging(own) { $1 })
        let problem = #expect(throws: ConfigurationProblem.self) {
            try ServiceSettings(service: "test", needs: [], reader: reader)
        }
        #expect(problem?.variable == variable)
    }

    // MARK: Parts

    private static func greet(_ router: Router<AppRequestContext>) {
        router.get("/greet/:name") { _, _ in APIResponse(.ok, body: Array("{}".utf8)) }
    }

    private static func span(_ name: String) -> Span {
        Span(name, .inside, .root(), parent: nil, start: Date(), duration: .milliseconds(1), attributes: [:])
    }

    private static func exporter(_ endpoint: String, _ registry: PrometheusRegistry) throws -> SpanExporter? {
        let reader = SettingsReader(["OTEL_EXPORTER_OTLP_ENDPOINT": endpoint])
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return try TracingSettings(reader).map {
            SpanExporter(settings: $0, service: "test", http: HTTPClient(), logger: quiet, metrics: registry)
        }
    }

    /// Runs an exporter while `body` runs, and ends it as a service is ended.
    private static func running(
        _ endpoint: String,
        _ registry: PrometheusRegistry,
        _ body: (SpanExporter) async throws -> Void
    ) async throws {
        let exporter = try #require(try Self.exporter(endpoint, registry))
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let group = ServiceGroup(services: [exporter], logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body(exporter)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    /// How many were dropped: full, refused, unreachable.
    private static func dropped(_ registry: PrometheusRegistry) -> [Int] {
        SpanExporter.Reason.allCases.map { reason in
            let start = "transfa_spans_dropped_total{reason=\"\(reason.rawValue)\"} "
            let line = registry.text().split(separator: "\n").first { $0.hasPrefix(start) }
            return line.flatMap { Int($0.dropFirst(start.count)) } ?? -1
        }
    }

    /// A collector that answers with these statuses first and then takes everything.
    private static func withCollector(
        answers: [Int] = [],
        _ body: @Sendable (Collector, String) async throws -> Void
    ) async throws {
        let collector = Collector(answers: answers)
        try await withRunningHost(
            routes: { router in
                router.post("/v1/traces") { request, _ in
                    let body = try await request.body.collect(upTo: 1 << 22)
                    let names = ["x-key", "x-team"]
                    let headers = names.map { ($0, request.headers[values: .init($0) ?? .accept].first ?? "") }
                    let status = collector.take(String(buffer: body), Dictionary(uniqueKeysWithValues: headers))
                    return Response(status: .init(code: status), headers: status == 429 ? [.retryAfter: "0"] : [:])
                }
            },
            { running in try await body(collector, running.publicURL) }
        )
    }
}

/// Takes spans, and keeps what it got.
private final class Collector: Sendable {
    struct Sent: Decodable {
        struct Group: Decodable {
            let resource: Resource
            let scopeSpans: [Scope]
        }

        struct Resource: Decodable {
            let attributes: [SentSpan.Attribute]
        }

        struct Scope: Decodable {
            let spans: [SentSpan]
        }

        let resourceSpans: [Group]
    }

    struct SentSpan: Decodable {
        struct Attribute: Decodable {
            let key: String
            let value: Value
        }

        struct Value: Decodable {
            let stringValue: String?
            let intValue: String?
        }

        struct Status: Decodable {
            let code: Int
        }

        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
        let kind: Int
        let startTimeUnixNano: String
        let endTimeUnixNano: String
        let attributes: [Attribute]
        let status: Status?
    }

    private struct State {
        var answers: [Int]
        var bodies: [String] = []
        var headers: [[String: String]] = []
        var taken: [SentSpan] = []
        var services: Set<String?> = []
    }

    private let state: Locked<State>

    init(answers: [Int]) { self.state = Locked(State(answers: answers)) }

    var spans: [SentSpan] { self.state.withLock { $0.taken } }
    /// The names of who sent.
    var services: Set<String?> { self.state.withLock { $0.services } }
    /// Everything that was sent, taken or not.
    var bodies: [String] { self.state.withLock { $0.bodies } }
    var headers: [[String: String]] { self.state.withLock { $0.headers } }

    func take(_ body: String, _ headers: [String: String]) -> Int {
        self.state.withLock { state in
            state.bodies.append(body)
            state.headers.append(headers)
            if !state.answers.isEmpty { return state.answers.removeFirst() }
            guard let sent = try? JSONDecoder().decode(Sent.self, from: Data(body.utf8)) else { return 400 }
            for group in sent.resourceSpans {
                let name = group.resource.attributes.first { $0.key == "service.name" }
                state.services.insert(name?.value.stringValue)
            }
            state.taken += sent.resourceSpans.flatMap { $0.scopeSpans.flatMap(\.spans) }
            return 200
        }
    }
}
