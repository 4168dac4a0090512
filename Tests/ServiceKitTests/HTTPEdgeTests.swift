import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import Primitives
import Testing

@testable import ServiceKit

private struct Unforeseen: Error {
    let secret = "22212345678"
}

private enum Broke: APIErrorConvertible {
    case insufficient

    var apiError: APIError { .refused("insufficient_funds") }
}

private struct Body: Decodable {
    let amount: Int64
}

private func routes(_ router: Router<AppRequestContext>) {
    router.post("/echo/:id") { request, context in
        let body = try await request.decodeBody(as: Body.self, context: context)
        let again = try await request.rawBody(context: context)
        return APIResponse(.ok, body: Array(#"{"amount":\#(body.amount),"hash":"\#(again.sha256Hex)"}"#.utf8))
    }
    router.get("/broke") { _, _ -> APIResponse in throw Broke.insufficient }
    router.get("/unforeseen") { _, _ -> APIResponse in throw Unforeseen() }
    router.get("/framework") { _, _ -> APIResponse in throw HTTPError(.badRequest, message: "secret") }
    router.get("/slow") { _, _ -> APIResponse in
        try await Task.sleep(for: .seconds(60))
        return .noContent
    }
    router.get("/trace") { _, context in APIResponse(.ok, body: Array("\"\(context.trace.text)\"".utf8)) }
    router.delete("/users/:id") { _, _ in APIResponse.noContent }
    router.get("/users/me/settings") { _, _ in APIResponse.noContent }
}

@Suite("the HTTP edge")
struct HTTPEdgeTests {
    @Test("a body is decoded and its raw bytes stay available")
    func echo() async throws {
        try await withRunningHost(routes: routes) { running in
            let answer = try await running.post("/echo/1", #"{"amount": 7}"#)
            #expect(answer.status == 200)
            #expect(answer.body.contains(RawBody(Array(#"{"amount": 7}"#.utf8)).sha256Hex))
        }
    }

    @Test("every refusal is a JSON:API error with the right status")
    func refusals() async throws {
        try await withRunningHost(routes: routes) { running in
            let wrongType = try await running.post("/echo/1", #"{"amount":"7"}"#)
            #expect(wrongType.status == 400)
            #expect(wrongType.error.pointer == "/amount")
            #expect(wrongType.header("Content-Type") == "application/vnd.api+json")
            #expect(try await running.post("/echo/1", "{").error.code == "invalid_json")
            let form = try await running.post("/echo/1", "amount=7", headers: ["Content-Type": "text/plain"])
            #expect(form.status == 415)
            let long = try await running.post(
                "/echo/1",
                #"{"amount":1,"x":"\#(String(repeating: "x", count: 70_000))"}"#
            )
            #expect(long.status == 413)
            #expect(long.error.code == "body_too_large")
            #expect(try await running.get("/nowhere").error.code == "unknown_route")
            #expect(try await running.get("/nowhere").status == 404)
            let broke = try await running.get("/broke")
            #expect(broke.status == 422)
            #expect(broke.error.code == "insufficient_funds")
            let framework = try await running.get("/framework")
            #expect(framework.status == 400)
            #expect(!framework.body.contains("secret"))
        }
    }

    @Test("a known path with another method is 405 and says which are allowed")
    func method() async throws {
        try await withRunningHost(routes: routes) { running in
            let answer = try await running.send(.put, running.publicURL + "/users/42")
            #expect(answer.status == 405)
            #expect(answer.header("Allow") == "DELETE")
            #expect(answer.error.code == "method_not_allowed")
        }
    }

    @Test("Allow names what the path takes, and not what a parameter in its place would")
    func allowed() async throws {
        try await withRunningHost(routes: routes) { running in
            let word = try await running.get("/users/me")
            #expect(word.status == 404 && word.error.code == "unknown_route")
            let verb = try await running.send(.delete, running.publicURL + "/trace")
            #expect(verb.status == 405 && verb.header("Allow") == "GET, HEAD")
        }
    }

    @Test("HEAD is answered as GET, without a body, errors too")
    func head() async throws {
        try await withRunningHost(routes: routes) { running in
            for path in ["/trace", "/broke", "/nowhere"] {
                let get = try await running.get(path)
                let head = try await running.send(.head, running.publicURL + path)
                #expect(head.status == get.status && head.body.isEmpty)
                #expect(head.header("Content-Type") == get.header("Content-Type"))
            }
        }
    }

    @Test("an unforeseen error is 500 with only the request id")
    func unforeseen() async throws {
        try await withRunningHost(routes: routes) { running in
            let answer = try await running.get("/unforeseen")
            #expect(answer.status == 500)
            #expect(answer.error.code == "internal_error")
            #expect(answer.error.id != nil && answer.error.id == answer.header("X-Request-Id"))
            #expect(!answer.body.contains("22212345"))
        }
    }

    @Test("a stranger names no request and chooses no trace")
    func strangersNames() async throws {
        try await withRunningHost(routes: routes) { running in
            let id = UUID().uuidString.lowercased()
            for parent in [Self.parent, Self.parent.dropLast(2) + "00"] {
                let answer = try await running.get("/trace", headers: ["X-Request-Id": id, "traceparent": parent])
                let made = try #require(answer.header("X-Request-Id"))
                #expect(UUID(uuidString: made) != nil && made != id)
                #expect(!answer.body.contains("4bf92f3577b34da6a3ce929d0e0e4736"))
                #expect(TraceContext.parse(answer.header("traceparent") ?? "")?.isSampled == true)
            }
        }
    }

    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let trusting = ["TRUSTED_PROXIES": "127.0.0.0/8"]

    @Test("a request id of a proxy of ours is kept when it is a UUID, any other is replaced")
    func requestID() async throws {
        try await withRunningHost(variables: Self.trusting, routes: routes) { running in
            let id = UUID().uuidString.lowercased()
            let kept = try await running.get("/trace", headers: ["X-Request-Id": id])
            #expect(kept.header("X-Request-Id") == id)
            let replaced = try await running.get("/trace", headers: ["X-Request-Id": "evil\"value"])
            let made = replaced.header("X-Request-Id")
            #expect(made.flatMap { UUID(uuidString: $0) } != nil)
        }
    }

    @Test("a trace of a proxy of ours is continued in a new span, a bad one is replaced")
    func trace() async throws {
        try await withRunningHost(variables: Self.trusting, routes: routes) { running in
            let answer = try await running.get("/trace", headers: ["traceparent": Self.parent])
            #expect(answer.body.contains("4bf92f3577b34da6a3ce929d0e0e4736"))
            #expect(!answer.body.contains("00f067aa0ba902b7"))
            let fresh = try await running.get("/trace", headers: ["traceparent": "00-zz"])
            #expect(TraceContext.parse(fresh.header("traceparent") ?? "") != nil)
        }
    }

    @Test("answers are not stored and not sniffed")
    func safeHeaders() async throws {
        try await withRunningHost(routes: routes) { running in
            let answer = try await running.get("/trace")
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(answer.header("X-Content-Type-Options") == "nosniff")
        }
    }

    @Test("a request past its deadline is 503 and the handler is cancelled")
    func deadline() async throws {
        try await withRunningHost(variables: ["REQUEST_DEADLINE_SECONDS": "1"], routes: routes) { running in
            let start = ContinuousClock.now
            let answer = try await running.get("/slow")
            #expect(answer.status == 503)
            #expect(answer.error.code == "deadline_exceeded")
            #expect(start.duration(to: .now) < .seconds(30))
        }
    }

    @Test("the duration of requests is measured by route template, never by path")
    func metrics() async throws {
        try await withRunningHost(routes: routes) { running in
            _ = try await running.send(.delete, running.publicURL + "/users/42")
            _ = try await running.get("/wp-admin")
            let text = try await running.inside(.get, "/metrics").body
            #expect(text.contains(#"_count{route="/users/{id}",method="DELETE",status="204"} 1"#))
            #expect(text.contains(#"route="unknown",method="GET",status="404""#))
            #expect(!text.contains("wp-admin"))
        }
    }
}
