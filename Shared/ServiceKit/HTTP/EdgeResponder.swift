import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Primitives

/// The outermost layer of the public server, one pass per request: request id and trace in and out, deadline,
/// JSON:API errors for whatever got past the router, safe headers, access log, metrics.
///
/// A responder and not a chain of middleware, because it must also see requests without a route, and because the
/// deadline runs the router in a child task.
struct EdgeResponder: HTTPResponder {
    private let routes: RouterResponder<AppRequestContext>
    private let index: RouteIndex
    private let ids: any IdentifierSource
    private let deadline: Duration
    private let wheel: DeadlineWheel
    private let metrics: HTTPRequestMetrics
    private let bodyLimit: Int
    private let clients: Clients
    private let journal: RequestJournal?
    private let spans: (any SpanSink)?
    private let clock: any TimeSource

    /// What is done about clients.
    struct Clients: Sendable {
        var proxies = TrustedProxies.none
        /// Nothing is counted without one.
        var limiter: RateLimiter?
        let cursors: CursorSeal
        let queries: RouteQueries
        /// Whether whoever asks is one of us, as on the internal port: their name for a request and their trace go on.
        var areOurs = false
    }

    init(
        routes: RouterResponder<AppRequestContext>,
        index: RouteIndex,
        ids: any IdentifierSource,
        wheel: DeadlineWheel,
        deadline: Duration,
        bodyLimit: Int,
        metrics: HTTPRequestMetrics,
        clients: Clients,
        journal: RequestJournal?,
        spans: (any SpanSink)?,
        clock: any TimeSource
    ) {
        self.clients = clients
        self.journal = journal
        self.spans = spans
        self.clock = clock
        self.index = index
        self.routes = routes
        self.ids = ids
        self.wheel = wheel
        self.deadline = deadline
        self.bodyLimit = bodyLimit
        self.metrics = metrics
    }

    /// Answers one request; never throws.
    func respond(to request: Request, context: AppRequestContext) async -> Response {
        let start = ContinuousClock.now
        var context = context
        let caller = self.name(request, &context)
        context.bodyLimit = self.bodyLimit
        context.client = self.clients.proxies.client(peer: context.peer, headers: request.headers)
        context.limiter = self.clients.limiter
        context.cursors = self.clients.cursors
        context.queries = self.clients.queries
        context.logger[metadataKey: "request_id"] = .safe(context.requestIDText)
        var response: Response
        do {
            let expected = try request.meetingExpectation(on: context.channel)
            response = try await self.route(expected, context, until: start.advanced(by: self.deadline))
        } catch {
            response = ErrorMiddleware.response(to: error, context: context)
        }
        if context.endpointPath == RouteIndex.notFound {
            response = self.unrouted(request).response(requestID: context.requestIDText)
        }
        self.finish(&response, context: context)
        // Errors too: what followed would be read as the next answer.
        if request.method == .head { response = response.createHeadResponse() }
        self.record(request, response, context: context, caller: caller, duration: start.duration(to: .now))
        return response
    }

    /// Names the request, and begins its trace or goes on with that of one of us.
    ///
    /// Whoever could choose the name could mix their requests up with another's, or have a trace that nobody keeps. A
    /// UUID of a stranger's is a note in the log.
    ///
    /// - Returns: The span that asks, if it is one of ours.
    private func name(_ request: Request, _ context: inout AppRequestContext) -> TraceContext? {
        let isOurs = self.clients.areOurs || self.clients.proxies.trusts(context.peer)
        let given = request.headers[.requestID].flatMap { UUID(text: $0) }
        context.requestID = isOurs ? given ?? self.ids.next() : self.ids.next()
        if !isOurs, let given { context.logger[metadataKey: "client_request_id"] = .safe(given.lowercased) }
        let caller = isOurs ? request.headers[.traceparent].flatMap { TraceContext.parse($0) } : nil
        context.trace = caller?.child() ?? .root()
        return caller
    }

    private func route(
        _ request: Request,
        _ context: AppRequestContext,
        until deadline: ContinuousClock.Instant
    ) async throws -> Response {
        try await withThrowingTaskGroup(of: Response?.self) { group in
            defer { group.cancelAll() }
            // Immediate: both start on this thread, so the ordinary request costs no extra hop.
            group.addImmediateTask { try await self.routes.respond(to: request, context: context) }
            group.addImmediateTask {
                await self.wheel.wait(until: deadline)
                return nil
            }
            guard let first = try await group.next(), let response = first else { throw APIError.deadlineExceeded }
            return response
        }
    }

    private func unrouted(_ request: Request) -> APIError {
        let methods = self.index.methods(of: request.uri.path)
        guard !methods.isEmpty else {
            return APIError(.notFound, code: "unknown_route", detail: "There is nothing at this path.")
        }
        let allowed = methods.map(\.rawValue).sorted().joined(separator: ", ")
        return APIError(
            .methodNotAllowed,
            code: "method_not_allowed",
            detail: "This path takes \(allowed).",
            headers: [.allow: allowed]
        )
    }

    private func finish(_ response: inout Response, context: AppRequestContext) {
        response.headers[.requestID] = context.requestIDText
        response.headers[.traceparent] = context.trace.text
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.cacheControl] == nil {
            response.headers[.cacheControl] = "no-store"
        }
    }

    private func record(
        _ request: Request,
        _ response: Response,
        context: AppRequestContext,
        caller: TraceContext?,
        duration: Duration
    ) {
        let found = context.endpointPath
        let route = found == nil || found == RouteIndex.notFound ? "unknown" : found ?? "unknown"
        self.metrics.record(route: route, method: request.method, status: response.status, duration: duration)
        self.keep(request, response, route: route, context: context, duration: duration)
        // Probes and scrapes come every few seconds and say nothing.
        let isProbe = route.hasPrefix("/health") || route == "/metrics"
        if !isProbe {
            self.trace(request, response, route: route, context: context, caller: caller, duration: duration)
        }
        let level: Logger.Level = isProbe ? .trace : .info
        guard context.logger.logLevel <= level else { return }
        context.logger.log(
            level: level,
            "request",
            metadata: [
                "route": .safe(route), "method": .safe(request.method.rawValue),
                "status": .safe(response.status.code), "duration_ms": .safe(duration.milliseconds),
                "trace_id": .safe(context.trace.traceID),
            ]
        )
    }

    private func trace(
        _ request: Request,
        _ response: Response,
        route: String,
        context: AppRequestContext,
        caller: TraceContext?,
        duration: Duration
    ) {
        guard let spans = self.spans, context.trace.isSampled else { return }
        // A method that nobody knows could be any text.
        let method = route == "unknown" ? "_OTHER" : request.method.rawValue
        let status = response.status.code
        spans.record(
            Span(
                "\(method) \(route)",
                .server,
                context.trace,
                parent: caller,
                start: self.clock.now.addingTimeInterval(-(duration / .seconds(1))),
                duration: duration,
                attributes: [
                    "http.request.method": .text(method), "http.route": .text(route),
                    "http.response.status_code": .number(Int64(status)),
                    "transfa.request.id": .text(context.requestIDText),
                ],
                failure: status >= 500 ? "status_\(status)" : nil
            )
        )
    }

    private func keep(
        _ request: Request,
        _ response: Response,
        route: String,
        context: AppRequestContext,
        duration: Duration
    ) {
        guard let journal = self.journal, route != "unknown", context.sender.isKnown,
            RequestJournal.isKept(request.method, answered: response.status)
        else { return }
        journal.note(
            RequestJournal.Entry(
                id: context.requestID,
                method: request.method,
                route: route,
                status: response.status.code,
                startedAt: self.clock.now.addingTimeInterval(-(duration / .seconds(1))),
                duration: duration,
                trace: context.trace
            )
        )
    }
}

extension Duration {
    /// Whole and fractional milliseconds, rounded to microseconds.
    var milliseconds: Double {
        let (seconds, attoseconds) = self.components
        return Double(seconds * 1000) + Double(attoseconds / 1_000_000_000_000) / 1000
    }
}
