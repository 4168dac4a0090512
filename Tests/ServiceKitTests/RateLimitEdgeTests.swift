import Foundation
import HTTPTypes
import Hummingbird
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import ServiceKit

/// Takes the name of a user for their token.
private struct NameVerifier: TokenVerifier {
    func verify(_ token: String) async throws(APIError) -> Identity {
        guard token != "bad" else { throw .unauthenticated }
        return Identity(userID: UserID(clerkSubject: token), clerkSubject: token, sessionID: "session")
    }
}

private func routes(_ router: Router<AppRequestContext>) {
    let group = router.group().add(middleware: AuthenticationMiddleware(verifier: NameVerifier()))
    group.get("/things") { _, _ in APIResponse.noContent }
    group.limited(.money).post("/orders") { _, _ in APIResponse.noContent }
    router.limitedByAddress().get("/open") { _, _ in APIResponse.noContent }
    router.limitedByAddress().limitedByAddress(.secrets).post("/sign-in") { _, _ in APIResponse.noContent }
    router.webhooks().post("/webhooks/test") { request, _ in
        guard request.headers[.authorization] == nil else { throw APIError.unauthenticated }
        return APIResponse.noContent
    }
}

private func headers(_ user: String, from address: String? = nil) -> [String: String] {
    var headers = ["Authorization": "Bearer \(user)"]
    headers["X-Forwarded-For"] = address
    return headers
}

@Suite("limits at the HTTP edge")
struct RateLimitEdgeTests {
    @Test("too many requests of one user are answered 429 with the time to wait, others go on")
    func perUser() async throws {
        try await withRunningHost(variables: ["RATE_LIMIT_USER": "2/3600"], routes: routes) { running in
            let first = try await running.get("/things", headers: headers("ada"))
            #expect(first.status == 204)
            #expect(first.header("RateLimit-Policy") == #""user";q=2;w=3600"#)
            #expect(first.header("RateLimit") == #""user";r=1;t=1800"#)
            #expect(try await running.get("/things", headers: headers("ada")).status == 204)
            let refused = try await running.get("/things", headers: headers("ada"))
            #expect(refused.status == 429)
            #expect(refused.error.code == "too_many_requests")
            #expect(refused.error.id == refused.header("X-Request-Id"))
            #expect(refused.header("Content-Type") == "application/vnd.api+json")
            let wait = try #require(Int(refused.header("Retry-After") ?? ""))
            #expect((1700...1800).contains(wait))
            #expect(refused.header("RateLimit")?.hasPrefix(#""user";r=0;t="#) == true)
            #expect(refused.header("RateLimit-Policy") == #""user";q=2;w=3600"#)
            #expect(refused.body.contains("The limit user is 2 requests in 3600 seconds."))
            #expect(try await running.get("/things", headers: headers("bola")).status == 204)
            let metrics = try await running.inside(.get, "/metrics").body
            #expect(metrics.contains(#"rate_limit_refusals_total{policy="user"} 1"#))
            #expect(metrics.contains(#"rate_limit_refusals_total{policy="address"} 0"#))
        }
    }

    @Test("a route with a policy of its own is stricter, and the others are not")
    func perRoute() async throws {
        try await withRunningHost(variables: ["RATE_LIMIT_MONEY": "1/3600"], routes: routes) { running in
            let first = try await running.post("/orders", "{}", headers: headers("ada"))
            #expect(first.status == 204)
            #expect(first.header("RateLimit-Policy") == #""money";q=1;w=3600, "user";q=600;w=60"#)
            let refused = try await running.post("/orders", "{}", headers: headers("ada"))
            #expect(refused.status == 429)
            #expect(refused.header("RateLimit-Policy") == #""money";q=1;w=3600"#)
            #expect(try await running.get("/things", headers: headers("ada")).status == 204)
            #expect(try await running.post("/orders", "{}", headers: headers("bola")).status == 204)
        }
    }

    @Test("who has no good token counts under the address, and stops nobody there who has one")
    func strangers() async throws {
        try await withRunningHost(variables: ["RATE_LIMIT_STRANGERS": "2/3600"], routes: routes) { running in
            #expect(try await running.get("/things", headers: headers("bad")).status == 401)
            #expect(try await running.get("/things").status == 401)
            for refused in [
                try await running.get("/things"), try await running.get("/things", headers: headers("bad")),
            ] {
                #expect(refused.status == 429 && refused.error.code == "too_many_requests")
                #expect(refused.header("Retry-After") != nil)
                #expect(refused.header("RateLimit-Policy") == #""strangers";q=2;w=3600"#)
            }
            for _ in 0..<5 {
                #expect(try await running.get("/things", headers: headers("ada")).status == 204)
                #expect(try await running.get("/open").status == 204)
            }
        }
    }

    @Test("what is everybody's counts under the address, tells nobody how full that is, and stops nobody signed in")
    func perAddress() async throws {
        try await withRunningHost(variables: ["RATE_LIMIT_ADDRESS": "2/3600"], routes: routes) { running in
            for _ in 0..<2 {
                let answer = try await running.get("/open")
                #expect(answer.status == 204 && answer.header("RateLimit") == nil)
            }
            let refused = try await running.get("/open")
            #expect(refused.status == 429)
            #expect(refused.header("RateLimit-Policy") == #""address";q=2;w=3600"#)
            #expect(try await running.get("/things", headers: headers("ada")).status == 204)
            #expect(try await running.get("/things").status == 401)
        }
    }

    @Test("signing in counts under a stricter policy, by address, for nobody is known yet")
    func perAddressAndRoute() async throws {
        try await withRunningHost(variables: ["RATE_LIMIT_SECRETS": "2/3600"], routes: routes) { running in
            for _ in 0..<2 {
                let answer = try await running.post("/sign-in", "{}")
                #expect(answer.status == 204 && answer.header("RateLimit") == nil)
            }
            let refused = try await running.post("/sign-in", "{}")
            #expect(refused.status == 429 && refused.error.code == "too_many_requests")
            #expect(try await running.get("/open").status == 204)
        }
    }

    @Test("webhooks count apart, and those without a good signature as strangers' too")
    func webhooks() async throws {
        let variables = ["RATE_LIMIT_WEBHOOKS": "3/3600"]
        try await withRunningHost(variables: variables, routes: routes) { running in
            for expected in [204, 204, 204, 429] {
                let answer = try await running.post("/webhooks/test", "{}")
                #expect(answer.status == expected)
            }
            #expect(try await running.get("/open").status == 204)
            #expect(try await running.get("/things").status == 401)
        }
        try await withRunningHost(variables: ["RATE_LIMIT_STRANGERS": "2/3600"], routes: routes) { running in
            for expected in [401, 401, 429] {
                let forged = try await running.post("/webhooks/test", "{}", headers: headers("forger"))
                #expect(forged.status == expected)
            }
            let next = try await running.post("/webhooks/test", "{}")
            #expect(next.status == 429 && next.header("RateLimit-Policy") == #""strangers";q=2;w=3600"#)
        }
    }

    @Test("webhooks and the internal port do not count with the rest")
    func excepted() async throws {
        let variables = ["RATE_LIMIT_ADDRESS": "1/3600", "RATE_LIMIT_USER": "1/3600"]
        try await withRunningHost(variables: variables, routes: routes) { running in
            let open = [try await running.get("/open").status, try await running.get("/open").status]
            #expect(open == [204, 429])
            for _ in 0..<5 {
                let answers = [
                    try await running.post("/webhooks/test", "{}").status,
                    try await running.inside(.get, "/health/ready").status,
                    try await running.inside(.get, "/metrics").status,
                ]
                #expect(answers == [204, 200, 200])
            }
        }
    }

    @Test("a stranger's X-Forwarded-For makes no new client of it, a trusted proxy's does")
    func forwarded() async throws {
        let statuses: @Sendable (RunningHost, [String]) async throws -> [Int] = { running, chains in
            var statuses: [Int] = []
            for chain in chains {
                statuses.append(try await running.get("/open", headers: ["X-Forwarded-For": chain]).status)
            }
            return statuses
        }
        let alone = ["RATE_LIMIT_ADDRESS": "1/3600"]
        let believed = try await withRunningHost(variables: alone, routes: routes) { running in
            try await statuses(running, ["192.0.2.1", "192.0.2.2"])
        }
        #expect(believed == [204, 429])
        let trusting = alone.merging(["TRUSTED_PROXIES": "127.0.0.0/8"]) { $1 }
        let separate = try await withRunningHost(variables: trusting, routes: routes) { running in
            try await statuses(running, ["192.0.2.1", "192.0.2.2", "1.1.1.1, 192.0.2.2"])
        }
        #expect(separate == [204, 204, 429])
    }

    @Test("off counts nothing, and a value that is no limit stops the start")
    func settings() async throws {
        let variables = ["RATE_LIMIT_ADDRESS": "off", "RATE_LIMIT_USER": "off"]
        try await withRunningHost(variables: variables, routes: routes) { running in
            let answer = try await running.get("/things", headers: headers("ada"))
            #expect(answer.status == 204)
            #expect(answer.header("RateLimit") == nil)
        }
        for policy in RatePolicy.allCases {
            let reader = SettingsReader(plainVariables.merging([policy.key.name: "s3cret"]) { $1 })
            let problem = #expect(throws: ConfigurationProblem.self) {
                try ServiceSettings(service: "test", needs: [], reader: reader)
            }
            #expect(problem?.variable == policy.key.name)
            #expect(problem?.description.contains("s3cret") == false)
        }
    }
}
