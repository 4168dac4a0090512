import Hummingbird
import OutgoingHTTP
import Testing

@testable import ServiceKit

private let queries = RouteQueries(["GET /things/{id}": ["limit", "word"]], free: ["/pages"])

private func routes(_ router: Router<AppRequestContext>) {
    router.get("/things/:id") { request, _ in
        APIResponse(.ok, body: Array("\"\(request.uri.queryParameters.get("word") ?? "")\"".utf8))
    }
    router.post("/things/:id") { _, _ in APIResponse.noContent }
    router.get("/pages/start") { _, _ in APIResponse.noContent }
}

@Suite("queries")
struct RouteQueryTests {
    @Test(
        "a parameter that a route does not take, takes once, or cannot read is refused by its name",
        arguments: [
            ("limt=5", "limt"), ("limit=5&limit=6", "limit"), ("word=%ZZ", "word"), ("word=%4", "word"),
            ("word=%FF", "word"), ("word=a&wrd=b", "wrd"), ("%6cimit=5", nil), ("Ada+Testperson=5", nil), ("=5", nil),
            ("word=a&", nil), ("WORD=a", nil),
        ] as [(String, String?)]
    )
    func refused(query: String, name: String?) async throws {
        let answer = try await withRunningHost(queries: queries, routes: routes) { running in
            try await running.get("/things/1?\(query)")
        }
        #expect(answer.status == 400)
        #expect(answer.error.code == "invalid_parameter")
        #expect(answer.body.contains(#""parameter":"\#(name ?? "")""#) == (name != nil))
        #expect(!answer.body.contains("Ada"))
    }

    @Test("what a route takes is taken, and HEAD takes what GET takes")
    func taken() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            #expect(try await running.get("/things/1?word=a%20b%F0%9F%98%80&limit=").body == "\"a b😀\"")
            #expect(try await running.get("/things/1?").status == 200)
            let head = try await running.send(.head, running.publicURL + "/things/1?limit=5")
            #expect(head.status == 200)
        }
    }

    @Test("another method of the same path takes none of it, and pages take whatever comes")
    func others() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            let posted = try await running.post("/things/1?limit=5", "{}")
            #expect(posted.status == 400)
            #expect(try await running.get("/pages/start?utm_source=a&utm_source=b").status == 204)
            #expect(try await running.get("/nowhere?limit=5").status == 404)
        }
    }

    @Test("the internal port looks at queries too, and says which its routes take")
    func inside() async throws {
        try await withRunningHost(queries: queries, routes: routes) { running in
            let refused = try await running.inside(.get, "/internal/ops/routes?all=yes")
            #expect(refused.status == 400)
            let listed = try await running.inside(.get, "/internal/ops/routes").body
            #expect(listed.contains(#""parameters":{"GET /things/{id}":["limit","word"]}"#))
        }
    }
}
