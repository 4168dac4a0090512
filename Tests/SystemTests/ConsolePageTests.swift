import Foundation
import NIOHTTP1
import Primitives
import TestSupport
import Testing

extension Journeys {
    /// The operators' page, over HTTP and in a browser.
    @Suite struct ConsolePageTests {
        private struct Routes: Decodable {
            let page: [String]
        }

        /// What nobody needs a session for.
        private static let open: Set = [
            "GET /console", "GET /console/assets/{file}", "GET /console/api/ways", "POST /console/api/session",
        ]

        /// What everybody may read.
        private static let documents: Set = [
            "GET /", "GET /asyncapi.json", "GET /docs", "GET /docs/assets/{file}", "GET /docs/first-payment",
            "GET /docs/reference/{file}", "POST /docs/sandbox/money", "POST /docs/sandbox/tokens",
        ]

        private static let values = [
            "{service}": "transaction", "{id}": "01932f5e-0000-7000-8000-0000000000ff", "{file}": "main.js",
        ]

        private static func filled(_ path: String) -> String {
            Self.values.reduce(path) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
        }

        @Test("without a session every path of the page but itself and signing in is 401, whatever else is sent")
        func closed() async throws {
            let suite = try RunningSuite.current
            let all = try await suite.operate("GET", "console", "/internal/ops/routes").decode(Routes.self).page
            let routes = all.filter { !Self.documents.contains($0) }
            #expect(Self.open.isSubset(of: routes) && routes.count > 30)
            let page = try await suite.signIn()
            let others = [
                [:], ["Cookie": "transfa_console=token.YWRh.0123456789ab.9999999999.00"],
                ["Cookie": "transfa_console=\(Base64URL.encode([UInt8](repeating: 7, count: 32)))"],
                ["Transfa-Guard": page.guardWord],
                ["Authorization": "Bearer \(suite.environment.internalToken)"],
            ]
            for route in routes {
                let words = route.split(separator: " ").map(String.init)
                let url = suite.environment.publicURL("console") + Self.filled(words[1])
                for headers in others where !Self.open.contains(route) {
                    let reply = try await suite.send(words[0], url, headers: headers)
                    #expect(reply.status == 401 && reply.error?.code == "unauthenticated", "\(route) \(headers)")
                }
                guard words[0] != "GET" else { continue }
                // With a session, but not from the page.
                for guardWord in ["", "x", String(page.guardWord.dropLast())] where !Self.open.contains(route) {
                    let headers = ["Cookie": page.cookie, "Transfa-Guard": guardWord]
                    #expect(try await suite.send(words[0], url, headers: headers).status == 403, "\(route)")
                }
                let elsewhere = page.headers.merging(["Sec-Fetch-Site": "cross-site"]) { $1 }
                let reply = try await suite.send(words[0], url, headers: elsewhere, body: Array("{}".utf8))
                #expect(reply.status == 403, "\(route)")
            }
        }

        @Test("the session is kept from scripts and other sites, and the page may run nothing but itself")
        func headers() async throws {
            let suite = try RunningSuite.current
            let address = suite.environment.publicURL("console") + "/console"
            let token = try #require(suite.environment.operatorTokens["ada"])
            let signedIn = try await suite.send(
                "POST",
                address + "/api/session",
                body: Array(#"{"token":"\#(token)"}"#.utf8)
            )
            let cookie = try #require(signedIn.header("Set-Cookie"))
            #expect(["HttpOnly", "SameSite=Strict", "Path=/console", "Max-Age=43200"].allSatisfy(cookie.contains))
            #expect(!signedIn.text.contains(token) && !cookie.contains(token))
            let page = try await suite.send("GET", address)
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
            #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
            #expect(!page.text.contains("<script>") && !page.text.contains("style=") && !page.text.contains("://"))
            let tag = try #require(page.header("ETag"))
            #expect(try await suite.send("GET", address, headers: ["If-None-Match": tag]).status == 304)
            #expect(try await suite.send("GET", address + "/assets/main.swift").status == 404)
            #expect(try await suite.send("GET", address + "/assets/..%2FMigrations").status == 404)
        }

        @Test("a session reaches what the page needs of the services and nothing else, and acts in its own name")
        func passages() async throws {
            let suite = try RunningSuite.current
            let page = try await suite.signIn("bola")
            let base = suite.environment.publicURL("console") + "/console/api"
            let good = try await suite.send("GET", base + "/services/auth/ops/status", headers: page.headers)
            #expect(good.status == 200 && good.text.contains(#""service" : "auth""#))
            #expect(good.text.contains(#""answered":{"#))
            let hidden = [
                "/services/auth/master-keys", "/services/auth/ops/clock", "/services/nobody/ops/status",
                "/services/auth/transfers", "/services/auth/ops/jobs/..%2Fclock", "/services/auth/ops/%2e%2e/jwks",
                "/services/auth/ops/outbox/events", "/services/auth/ops/outbox", "/services/account/ops/provider-calls",
            ]
            for path in hidden {
                let reply = try await suite.send("GET", base + path, headers: page.headers)
                #expect(reply.status == 404, "\(path) \(reply.text)")
            }
            let job = try await suite.failedJob(on: "account")
            let act = base + "/services/account/ops/jobs/\(job)/cancel"
            // Who acts is who has signed in, whatever the browser says.
            let headers = page.headers.merging(["Transfa-Operator": "mallory"]) { $1 }
            let cancelled = try await suite.send(
                "POST",
                act,
                headers: headers,
                body: Array(#"{"reason":"tried"}"#.utf8)
            )
            #expect(cancelled.status == 204)
            let actors = try await suite.rows("account", "SELECT actor FROM audit_log WHERE subject = '\(job)'")
            #expect(actors == ["bola"])
        }

        @Test(
            "in a browser one signs in with the keyboard, sees how the suite is doing, and finds and traces a payment",
            arguments: ["signing_in", "overview", "looking"]
        )
        func browsing(story: String) async throws {
            let suite = try RunningSuite.current
            try await suite.browse(try await suite.pageWorld(), story)
        }

        @Test("in a browser parked events are retried in order and a job is cancelled, which the audit shows")
        func repairing() async throws {
            let suite = try RunningSuite.current
            var world = try await suite.pageWorld()
            world["parked"] = try await suite.parkTwo(on: "analytics")
            world["job"] = try await suite.failedJob(on: "account")
            try await suite.browse(world, "repairing")
            let parked = "SELECT count(*) FROM parked_keys WHERE subject = '\(world["parked"] ?? "")'"
            #expect(try await suite.number(parked, of: "analytics") == 0)
        }

        @Test("in a browser a payment is reversed by two operators, and one alone is refused")
        func deciding() async throws {
            let suite = try RunningSuite.current
            let world = try await suite.pageWorld()
            let payment = try #require(world["payment"].flatMap { UUID(text: $0) })
            try await suite.browse(world, "deciding")
            #expect(try await suite.state(payment) == "reversed")
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("in a browser a replay is planned, tried in a dry run, and run, which the audit shows")
        func replaying() async throws {
            let suite = try RunningSuite.current
            try await suite.browse(try await suite.pageWorld(), "replaying")
            #expect(
                try await suite.rows("console", "SELECT mode, state FROM replays ORDER BY created_at DESC LIMIT 2")
                    .count == 2
            )
        }

        @Test("every view is for everybody: axe objects to nothing, by day, by night and on a phone")
        func looks() async throws {
            let suite = try RunningSuite.current
            var world = try await suite.pageWorld()
            world["pictures"] = "\(Scratch.directory)/console-page"
            try await suite.browse(world, "looks")
        }

        @Test("what everybody may read is for everybody, too")
        func documents() async throws {
            let suite = try RunningSuite.current
            var world = try await suite.pageWorld()
            world["pictures"] = "\(Scratch.directory)/documents"
            try await suite.browse(world, "documents")
        }

        @Test(
            "the reference invents somebody by one click, whose requests are granted, and is for everybody, too",
            .enabled(if: SuiteEnvironment.reference != nil, "scripts/test gets what shows the reference")
        )
        func reference() async throws {
            let suite = try RunningSuite.current
            let world = ["pictures": "\(Scratch.directory)/reference"]
            try await suite.browseByGateway(world, "reference")
        }
    }
}
