import HTTPTypes
import Hummingbird
import NIOCore
import Primitives

/// The routes of the internal port: health for anybody, everything else for the holder of the token.
enum InternalRoutes {
    static func add(
        to router: Router<AppRequestContext>,
        tokens: SecretList,
        readiness: Readiness,
        metrics: PrometheusRegistry,
        metricsTokens: SecretList?,
        guarded: [GuardedRoutes],
        own: (RouterGroup<AppRequestContext>) -> Void
    ) {
        router.get("/health/live") { _, _ in Self.json(.ok, #"{"status":"live"}"#) }
        router.get("/health/ready") { _, _ in
            let report = await readiness.report()
            return Self.json(report.isReady ? .ok : .serviceUnavailable, Self.text(of: report))
        }
        let closed = router.group().add(middleware: InternalTokenMiddleware(tokens: tokens))
        let measured = metricsTokens.map { tokens.and($0) } ?? tokens
        router.group().add(middleware: InternalTokenMiddleware(tokens: measured)).get("/metrics") { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text()))
            )
        }
        for own in guarded {
            own.routes(router.group().add(middleware: InternalTokenMiddleware(tokens: own.tokens)).group("/internal"))
        }
        own(closed.group("/internal"))
    }

    static func json(_ status: HTTPResponse.Status, _ text: String) -> APIResponse {
        APIResponse(status, body: Array(text.utf8), headers: [.contentType: "application/json"])
    }

    private static func text(of report: Readiness.Report) -> String {
        var text = JSONText()
        text.object { document in
            document.member("status", !report.isReady ? "not_ready" : report.isDegraded ? "degraded" : "ready")
            document.key("checks")
            document.object { checks in
                for check in report.checks {
                    checks.member(check.name, check.isGood)
                }
            }
        }
        return String(decoding: text.bytes, as: UTF8.self)
    }
}
