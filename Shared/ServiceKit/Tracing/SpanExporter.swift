import CoreMetrics
import EventLoops
import Foundation
import Logging
import OutgoingHTTP
import Primitives
import ServiceLifecycle

/// Sends spans to a collector of OpenTelemetry: OTLP over HTTP, as JSON.
///
/// In groups, after the fact, so that nobody waits for it. A collector that is away costs spans and nothing else: what
/// finds no room, is refused or cannot be sent is left out and counted.
final class SpanExporter: SpanSink, Service, CustomStringConvertible {
    let description = "span-exporter"
    private let settings: TracingSettings
    private let document: OTLPDocument
    private let http: HTTPClient
    private let logger: Logger
    private let dropped: [Reason: any CounterHandler]
    private let waiting = Locked<[Span]>([])

    /// Why spans were left out.
    enum Reason: String, CaseIterable {
        case full
        case refused
        case unreachable
    }

    static let capacity = 10_000
    private static let spansAtOnce = 500
    private static let pause = Duration.seconds(1)
    private static let timeout = Duration.seconds(5)
    /// How often a group is sent that the collector asks for again, or that did not reach it.
    private static let tries = 3
    private static let longestWait = 5
    /// What it answers is read, so that the connection can be used again.
    private static let longestAnswer = 1 << 16

    init(
        settings: TracingSettings,
        service: String,
        http: HTTPClient,
        logger: Logger,
        metrics: PrometheusRegistry
    ) {
        self.settings = settings
        self.document = OTLPDocument(service: service, version: ServiceVersion.text)
        self.http = http
        self.logger = logger
        self.dropped = Dictionary(
            uniqueKeysWithValues: Reason.allCases.map {
                ($0, metrics.makeCounter(label: "transfa_spans_dropped", dimensions: [("reason", $0.rawValue)]))
            }
        )
    }

    func record(_ span: Span) {
        let hasRoom = self.waiting.withLock { spans in
            guard spans.count < Self.capacity else { return false }
            spans.append(span)
            return true
        }
        if !hasRoom { self.drop(1, .full) }
    }

    /// Sends group after group; the rest once when everybody who could tell of one has stopped.
    ///
    /// A group that is under way then is not broken off: it may have arrived.
    func run() async {
        while !Self.isStopping {
            await Self.rest(for: Self.pause)
            if !Self.isStopping { await self.sendAll(tries: Self.tries) }
        }
        await self.sendAll(tries: 1)
    }

    private static var isStopping: Bool { Task.isCancelled || Task.isShuttingDownGracefully }

    private static func rest(for pause: Duration) async {
        await cancelWhenGracefulShutdown { try? await Task.sleep(for: pause) }
    }

    private func sendAll(tries: Int) async {
        while true {
            let group = self.waiting.withLock { spans in
                let group = Array(spans.prefix(Self.spansAtOnce))
                spans.removeFirst(group.count)
                return group
            }
            guard !group.isEmpty, await self.send(group, tries: tries) else { return }
        }
    }

    /// False when everything stops before the collector wants it again: then the group waits for the last round.
    private func send(_ group: [Span], tries: Int) async -> Bool {
        let body = Array(self.document.bytes(of: group))
        for attempt in 1...tries {
            switch await self.post(body) {
            case .taken: return true
            case .refused(let status):
                self.drop(group.count, .refused)
                self.logger.warning("spans refused", metadata: ["count": .safe(group.count), "status": .safe(status)])
                return true
            case .later(let seconds) where attempt < tries:
                await Self.rest(for: .seconds(min(seconds ?? attempt, Self.longestWait)))
                guard Self.isStopping else { continue }
                self.waiting.withLock { $0.insert(contentsOf: group, at: 0) }
                return false
            case .later:
                self.drop(group.count, .unreachable)
                self.logger.warning("spans not sent", metadata: ["count": .safe(group.count)])
            }
        }
        return true
    }

    private enum Answer {
        case taken
        case refused(Int)
        /// Again after so many seconds, if it says.
        case later(Int?)
    }

    private func post(_ body: [UInt8]) async -> Answer {
        var call = HTTPCall(.post, self.settings.url, body: body, longestAnswer: Self.longestAnswer)
        call.headers = [("Content-Type", "application/json")] + self.settings.headers.map { ($0.name, $0.value) }
        // Whatever goes wrong: address and headers may stand in its text.
        do throws(HTTPFailure) {
            let answer = try await self.http.send(call, within: Self.timeout)
            return Self.answer(answer.status, retryAfter: answer.retryAfter)
        } catch {
            return error.status.map { Self.answer($0, retryAfter: error.retryAfter) } ?? .later(nil)
        }
    }

    private static func answer(_ status: Int, retryAfter: Int64?) -> Answer {
        switch status {
        case 200..<300: .taken
        // The four that OTLP calls passing.
        case 429, 502, 503, 504: .later(retryAfter.map { Int(clamping: max($0, 0)) })
        default: .refused(status)
        }
    }

    private func drop(_ count: Int, _ reason: Reason) { self.dropped[reason]?.increment(by: Int64(count)) }
}
