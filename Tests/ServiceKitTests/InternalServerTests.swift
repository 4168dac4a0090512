import Foundation
import HTTPTypes
import Hummingbird
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import ServiceKit

private func noRoutes(_ router: Router<AppRequestContext>) {}

@Suite("the internal port")
struct InternalServerTests {
    @Test("health is open, everything else wants the token")
    func token() async throws {
        try await withRunningHost(
            routes: noRoutes,
            internalRoutes: { $0.get("/secret") { _, _ in "secret" } },
            { running in
                #expect(try await running.send(.get, running.internalURL + "/health/live").status == 200)
                #expect(try await running.send(.get, running.internalURL + "/health/ready").status == 200)
                for path in ["/metrics", "/internal/secret", "/internal/ops/clock"] {
                    let bare = try await running.send(.get, running.internalURL + path)
                    #expect(bare.status == 401)
                    let wrong = try await running.send(
                        .get,
                        running.internalURL + path,
                        headers: ["Authorization": "Bearer an-internal-token-of-a-tesT"]
                    )
                    #expect(wrong.status == 401)
                    #expect(try await running.inside(.get, path).status == 200)
                }
            }
        )
    }

    @Test("a token for metrics opens metrics, one of a path opens that path, and neither opens another")
    func narrow() async throws {
        let keys = try #require(SecretList(["a-token-for-data-keys", "another-for-data-keys"]))
        try await withRunningHost(
            variables: ["METRICS_TOKEN": "a-token-for-metrics,another-for-metrics"],
            routes: noRoutes,
            internalRoutes: { $0.get("/open") { _, _ in "open" } },
            guardedRoutes: GuardedRoutes(keys) { $0.get("/keys/:user") { _, _ in "key" } },
            { running in
                let paths = ["/metrics", "/internal/keys/ada", "/internal/open", "/internal/ops/clock"]
                let opened = [
                    "an-internal-token-of-a-test": [200, 401, 200, 200], "a-token-for-metrics": [200, 401, 401, 401],
                    "another-for-metrics": [200, 401, 401, 401], "a-token-for-data-keys": [401, 200, 401, 401],
                    "another-for-data-keys": [401, 200, 401, 401], "a-token-of-nobody-here": [401, 401, 401, 401],
                ]
                for (token, wanted) in opened {
                    var found: [Int] = []
                    for path in paths {
                        let url = running.internalURL + path
                        let headers = ["Authorization": "Bearer \(token)"]
                        found.append(try await running.send(.get, url, headers: headers).status)
                    }
                    #expect(found == wanted, "\(token)")
                }
            }
        )
    }

    @Test("a service lists what it answers, on both ports")
    func routes() async throws {
        try await withRunningHost(
            routes: { $0.get("/things/:id") { _, _ in "thing" } },
            internalRoutes: { $0.post("/secret") { _, _ in "secret" } },
            { running in
                let listed = try await running.inside(.get, "/internal/ops/routes").body
                #expect(listed.hasPrefix(#"{"public":["GET /things/{id}"],"internal":["#))
                for name in ["POST /internal/secret", "GET /internal/ops/routes", "GET /health/live"] {
                    #expect(listed.contains("\"\(name)\""))
                }
            }
        )
    }

    @Test("the public port has none of it")
    func apart() async throws {
        try await withRunningHost(routes: noRoutes) { running in
            for path in ["/metrics", "/health/ready", "/internal/ops/clock"] {
                let answer = try await running.get(path)
                #expect(answer.status == 404)
            }
        }
    }

    @Test("readiness names its checks and fails only for required ones")
    func readiness() async throws {
        try await withRunningHost(routes: noRoutes) { running in
            running.host.readiness.add("redis", .informational) { false }
            let ready = try await running.send(.get, running.internalURL + "/health/ready")
            #expect(ready.status == 200)
            #expect(ready.body == #"{"status":"degraded","checks":{"running":true,"redis":false}}"#)
            running.host.readiness.add("postgres") { false }
            let not = try await running.send(.get, running.internalURL + "/health/ready")
            #expect(not.status == 503)
            #expect(not.body.contains(#""postgres":false"#))
        }
    }

    @Test("the status says what came twice by place and outcome, in the order of the names")
    func answered() {
        let totals = ["requests": ["waited": 1, "first": 12, "repeat_redis": 3], "events": ["first": 4]]
        let text = OperationsRoutes.text(of: totals)
        #expect(text == #"{"events":{"first":4},"requests":{"first":12,"repeat_redis":3,"waited":1}}"#)
        #expect(OperationsRoutes.text(of: [:]) == "{}")
    }

    @Test("draining is not ready")
    func draining() async {
        let readiness = Readiness()
        #expect(await readiness.report().isReady)
        readiness.drain()
        #expect(await !readiness.report().isReady)
    }

    @Test("the clock moves in the sandbox profile only")
    func clock() async throws {
        try await withRunningHost(routes: noRoutes) { running in
            let refused = try await running.inside(.put, "/internal/ops/clock", body: #"{"offset_seconds":60}"#)
            #expect(refused.status == 403)
            #expect(running.host.clock.offset == .zero)
        }
        try await withRunningHost(variables: ["TRANSFA_PROFILE": "sandbox"], routes: noRoutes) { running in
            let moved = try await running.inside(.put, "/internal/ops/clock", body: #"{"offset_seconds":86400}"#)
            #expect(moved.status == 200)
            #expect(running.host.clock.offset == .seconds(86_400))
            let absurd = try await running.inside(
                .put,
                "/internal/ops/clock",
                body: #"{"offset_seconds":9223372036854775807}"#
            )
            #expect(absurd.status == 400)
            let least = try await running.inside(
                .put,
                "/internal/ops/clock",
                body: #"{"offset_seconds":-9223372036854775808}"#
            )
            #expect(least.status == 400)
            #expect(try await running.inside(.get, "/internal/ops/clock").body.contains(#""offset_seconds":86400"#))
        }
    }
}
