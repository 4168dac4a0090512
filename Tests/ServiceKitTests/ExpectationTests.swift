import Hummingbird
import TestSupport
import Testing

@testable import ServiceKit

/// Says what a client says, and what it hears until a word comes.
private func hear(_ word: String, on connection: RawConnection) async throws -> String {
    var heard = ""
    try await eventually("\(word) on the connection") {
        if let bytes = connection.readBytes() { heard += String(decoding: bytes, as: UTF8.self) }
        return heard.contains(word)
    }
    return heard
}

private func routes(_ router: Router<AppRequestContext>) {
    router.post("/echo") { request, context in
        APIResponse(.ok, body: try await request.rawBody(context: context).bytes)
    }
    router.post("/refuse") { _, _ -> APIResponse in throw APIError.forbidden() }
}

@Suite("Expect: 100-continue")
struct ExpectationTests {
    private func head(
        _ path: String,
        _ version: String = "1.1",
        length: Int = 7,
        expect: String = "100-continue"
    )
        -> String
    {
        "POST \(path) HTTP/\(version)\r\nHost: a\r\nContent-Length: \(length)\r\nExpect: \(expect)\r\n\r\n"
    }

    private func connected(_ body: @Sendable (RawConnection) async throws -> Void) async throws {
        try await withRunningHost(routes: routes) { running in
            try await body(try RawConnection(to: await running.host.publicPort.value))
        }
    }

    @Test(
        "a body that is wanted is asked for at once, and the connection goes on",
        arguments: ["100-continue", "100-Continue"]
    )
    func wanted(expect: String) async throws {
        try await self.connected { connection in
            for _ in 1...2 {
                connection.say(self.head("/echo", expect: expect))
                let word = try await hear("\r\n\r\n", on: connection)
                #expect(word == "HTTP/1.1 100 Continue\r\n\r\n")
                connection.say("{\"a\":1}")
                let answer = try await hear("{\"a\":1}", on: connection)
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
        }
    }

    @Test("a request that is refused before its body gets its answer, and no 100", arguments: ["/refuse", "/nowhere"])
    func refused(path: String) async throws {
        try await self.connected { connection in
            connection.say(self.head(path))
            let answer = try await hear("\r\n\r\n", on: connection)
            #expect(answer.hasPrefix("HTTP/1.1 40"))
            #expect(answer.lowercased().contains("connection: close\r\n"))
            _ = try await connection.readToEnd()
        }
    }

    @Test("a body that is too long is refused before it comes")
    func tooLong() async throws {
        try await self.connected { connection in
            connection.say(self.head("/echo", length: 1_000_000))
            let answer = try await hear("\r\n\r\n", on: connection)
            #expect(answer.hasPrefix("HTTP/1.1 413 "))
        }
    }

    @Test("who does not wait, or speaks HTTP/1.0, hears no 100")
    func unneeded() async throws {
        try await self.connected { connection in
            connection.say(self.head("/echo") + "{\"a\":1}")
            let answer = try await hear("{\"a\":1}", on: connection)
            #expect(
                answer.hasPrefix("HTTP/1.1 200 OK\r\n") || answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200")
            )
        }
        try await self.connected { connection in
            connection.say(self.head("/echo", "1.0"))
            connection.say("{\"a\":1}")
            let answer = try await hear("{\"a\":1}", on: connection)
            #expect(answer.contains(" 200 OK\r\n") && !answer.contains(" 100 "))
        }
    }

    @Test("any other expectation is 417")
    func other() async throws {
        try await self.connected { connection in
            connection.say(self.head("/echo", expect: "200-ok"))
            connection.say("{\"a\":1}")
            let answer = try await hear("\r\n\r\n", on: connection)
            #expect(answer.hasPrefix("HTTP/1.1 417 "))
        }
    }
}
