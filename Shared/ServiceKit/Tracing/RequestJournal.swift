import CoreMetrics
import EventLoops
import Foundation
import HTTPTypes
import Logging
import Postgres
import Primitives
import ServiceLifecycle

/// Writes down the requests that may change something: a trace begins with one, and a refused one leaves nothing else.
///
/// Of known senders only: what nobody sends, or what comes too often, is counted and leaves no row.
///
/// In groups, after the answers, so that nobody waits for it. It is no part of what must be true: a crash loses those of
/// the last moment, and when the database is slower than requests come, the newest are left out and counted.
final class RequestJournal: Service, CustomStringConvertible {
    /// A request that was answered.
    struct Entry: Sendable {
        let id: UUID
        let method: HTTPRequest.Method
        let route: String
        let status: Int
        let startedAt: Date
        let duration: Duration
        let trace: TraceContext
    }

    let description = "request-journal"
    private let postgres: PostgresClient
    private let logger: Logger
    private let left: any CounterHandler
    private let waiting = Locked<[Entry]>([])

    private static let capacity = 10_000
    private static let rowsAtOnce = 2000
    private static let pause = Duration.milliseconds(500)

    init(postgres: PostgresClient, logger: Logger, metrics: PrometheusRegistry) {
        self.postgres = postgres
        self.logger = logger
        self.left = metrics.makeCounter(label: "transfa_requests_not_recorded", dimensions: [])
    }

    /// Whether a request of a known sender is written down: one that may change something, and that was looked at.
    ///
    /// Whoever sends too much must not fill the database with being told so; the metrics of the edge count those.
    static func isKept(_ method: HTTPRequest.Method, answered status: HTTPResponse.Status) -> Bool {
        guard status != .unauthorized, status != .tooManyRequests else { return false }
        switch method {
        case .get, .head, .options: return false
        default: return true
        }
    }

    /// Keeps an entry until the next group is written.
    func note(_ entry: Entry) {
        let hasRoom = self.waiting.withLock { entries in
            guard entries.count < Self.capacity else { return false }
            entries.append(entry)
            return true
        }
        if !hasRoom { self.left.increment(by: 1) }
    }

    /// Writes group after group; the last one when everybody who notes something has stopped.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                // A cancelled task cannot write: the rest is for the group after the loop.
                if !Task.isCancelled { await self.write() }
            }
        }
        await self.write()
    }

    private func write() async {
        while true {
            let group = self.waiting.withLock { entries in
                let group = Array(entries.prefix(Self.rowsAtOnce))
                entries.removeFirst(group.count)
                return group
            }
            guard !group.isEmpty else { return }
            do {
                try await self.insert(group)
            } catch let error as PostgresError where Self.sentNothing.contains(error.code) {
                self.keep(group)
                return
            } catch {
                self.left.increment(by: Int64(group.count))
                self.logger.warning(
                    "requests not recorded",
                    metadata: ["count": .safe(group.count), "error": "\(SafeErrorText.describe(error))"]
                )
                return
            }
        }
    }

    /// Errors after which a group can be written without writing it twice.
    private static let sentNothing: [PostgresError.Code] = [.leaseTimeout, .notConnected, .overloaded]

    /// Puts back what could not be written, for the next group.
    private func keep(_ group: [Entry]) {
        let excess = self.waiting.withLock { entries in
            entries.insert(contentsOf: group, at: 0)
            let excess = max(0, entries.count - Self.capacity)
            entries.removeLast(excess)
            return excess
        }
        if excess > 0 { self.left.increment(by: Int64(excess)) }
    }

    private func insert(_ group: [Entry]) async throws {
        let microseconds = group.map { Int64($0.duration / .microseconds(1)) }
        try await self.postgres.withConnection { connection in
            _ = try await connection.execute(
                """
                INSERT INTO requests (day, id, method, route, status, started_at, microseconds, traceparent)
                SELECT (r.started AT TIME ZONE 'UTC')::date, r.id, r.method, r.route, r.status, r.started, r.microseconds,
                    r.trace
                FROM unnest(\(group.map(\.id)), \(group.map(\.method.rawValue)), \(group.map(\.route)),
                    \(group.map { Int16($0.status) }), \(group.map(\.startedAt)), \(microseconds),
                    \(group.map(\.trace.text)))
                    AS r(id, method, route, status, started, microseconds, trace)
                """
            )
        }
    }
}
