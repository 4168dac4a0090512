import EventLoops
import Foundation
import OutgoingHTTP
import Testing

@Suite("a call and its answer")
struct CallTests {
    @Test("method, path, headers and body arrive as they were given, and nothing is added to them")
    func asGiven() async throws {
        try await RudeServer.with(Manners { $0.answerAll("done") }) { server in
            try await withHTTP { http async throws in
                let call = HTTPCall(
                    .put,
                    "\(server.url)/a/b?c=d",
                    headers: [("X-Twice", "1"), ("X-Twice", "2"), ("X-Empty", ""), ("Content-Type", "text/plain")],
                    body: Array("körper".utf8)
                )
                let answer = try await http.send(call, within: plenty)
                #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "done")
                let seen = try #require(server.requests.first)
                #expect(seen.method == "PUT" && seen.path == "/a/b?c=d" && seen.body == "körper")
                #expect(seen.values("x-twice") == ["1", "2"] && seen.values("x-empty") == [""])
                let names = Set(seen.headers.map { $0.name.lowercased() })
                #expect(names == ["host", "accept", "x-twice", "x-empty", "content-type", "content-length"])
            }
        }
    }

    @Test(
        "a request without a body says so where one is expected, and is silent where none is",
        arguments: [(HTTPMethod.post, ["0"]), (.put, ["0"]), (.patch, ["0"]), (.get, []), (.delete, [])]
    )
    func withoutBody(method: HTTPMethod, length: [String]) async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP { http async throws in
                #expect(try await http.send(HTTPCall(method, server.url), within: plenty).status == 200)
                let seen = try #require(server.requests.first)
                #expect(seen.method == method.rawValue && seen.values("content-length") == length)
                #expect(seen.values("content-type").isEmpty && seen.values("expect").isEmpty)
            }
        }
    }

    @Test("one client does one kind of request after another")
    func kinds() async throws {
        try await RudeServer.with(
            Manners { connection in
                while let request = connection.request() {
                    if request.method == "HEAD" {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
                    } else {
                        connection.answer(200, request.body)
                    }
                }
            }
        ) { server in
            try await withHTTP { http async throws in
                for turn in 0..<3 {
                    let posted = try await http.send(order(server.url, body: "\(turn)"), within: plenty)
                    #expect(posted.body == Array("\(turn)".utf8))
                    #expect(try await http.send(HTTPCall(.head, server.url), within: plenty).body.isEmpty)
                    #expect(try await http.send(HTTPCall(.get, server.url), within: plenty).body.isEmpty)
                    let deleted = HTTPCall(.delete, server.url, body: Array("gone".utf8))
                    #expect(try await http.send(deleted, within: plenty).body == Array("gone".utf8))
                }
                #expect(server.connections == 1)
                #expect(server.requests.map(\.method) == (0..<3).flatMap { _ in ["POST", "HEAD", "GET", "DELETE"] })
            }
        }
    }

    @Test("a long body arrives whole, without a wait for 100 Continue")
    func longBody() async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP { http async throws in
                let body = String(repeating: "0123456789abcdef", count: 1 << 16)
                let begin = ContinuousClock.now
                _ = try await http.send(order(server.url, body: body), within: plenty)
                #expect(server.requests.first?.body == body)
                #expect(server.requests.first?.values("expect").isEmpty == true)
                #expect(ContinuousClock.now - begin < .seconds(20))
            }
        }
    }

    @Test(
        "answers of every form are read",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
            ("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nX-Late: 1\r\n\r\n", 200,
                "ok"
            ),
            ("HTTP/1.0 200 OK\r\n\r\nok", 200, "ok"),
            ("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 201 Made\r\nContent-Length: 2\r\n\r\nok", 201, "ok"),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""),
            ("HTTP/1.1 204 None\r\n\r\n", 204, ""), ("HTTP/1.1 304 Same\r\n\r\n", 304, ""),
            ("HTTP/1.1 503 Down\r\nContent-Length: 2\r\n\r\nno", 503, "no"),
            ("HTTP/1.1 302 There\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", 302, ""),
        ]
    )
    func forms(text: String, status: Int, body: String) async throws {
        try await RudeServer.with(
            Manners { connection in
                _ = connection.request()
                connection.write(text)
            }
        ) { server in
            try await withHTTP { http async throws in
                let answer = try await http.send(order(server.url), within: plenty)
                #expect(answer.status == status && String(decoding: answer.body, as: UTF8.self) == body)
                #expect(answer.header("Link") == nil && answer.header("X-Late") == nil)
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test("headers of an answer are found in upper and lower case, the first of several, without blanks around them")
    func answerHeaders() async throws {
        let headers = "Retry-After:  7 \r\nSet-Cookie: a=1\r\nset-cookie: b:2\r\nX-None:\r\n"
        try await RudeServer.with(
            Manners { connection in
                while connection.request() != nil { connection.answer(429, "", headers: headers) }
            }
        ) { server in
            try await withHTTP { http async throws in
                let answer = try await http.send(HTTPCall(.get, server.url), within: plenty)
                #expect(answer.retryAfter == 7 && answer.header("x-none") == "" && answer.header("x-other") == nil)
                #expect(answer.header("SET-COOKIE") == "a=1")
                #expect(answer.headers.filter { $0.name.lowercased() == "set-cookie" }.map(\.value) == ["a=1", "b:2"])
            }
        }
    }

    @Test("what cannot be sent is refused: a line break in a header, a name that is none, an address that is none")
    func malformed() async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP { http async throws in
                var calls = ["a\r\nX-Other: 1", "a\nb", "a\u{0}b", "a\u{7F}b"].map {
                    HTTPCall(.get, server.url, headers: [("X-Value", $0)])
                }
                calls += ["", "a b", "a:", "a\r\n", "ä"].map { HTTPCall(.get, server.url, headers: [($0, "value")]) }
                calls += ["", "no address", "ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://a b/"].map {
                    HTTPCall(.get, $0)
                }
                for call in calls {
                    let failure = await http.failure(call)
                    #expect(failure == HTTPFailure(reason: .malformed, isUnsent: true), "\(call)")
                }
                #expect(server.requests.isEmpty)
                #expect(try await http.send(HTTPCall(.get, server.url), within: plenty).status == 200)
            }
        }
    }

    @Test("no proxy of the environment is used")
    func noProxy() async throws {
        // Set by scripts/test, for this module.
        for name in ["http_proxy", "ALL_PROXY"] {
            #expect(ProcessInfo.processInfo.environment[name] != nil, "run it with \(name) in the environment")
        }
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP { http async throws in
                #expect(try await http.send(HTTPCall(.get, server.url), within: plenty).status == 200)
            }
        }
    }

    @Test("each call is told of once: its host without a password, its status or the reason why there is none")
    func observed() async throws {
        let told = Locked<[String]>([])
        try await RudeServer.with(
            Manners { connection in
                while let request = connection.request() {
                    if request.path == "/end" { return }
                    connection.answer(request.path == "/bad" ? 500 : 200)
                }
            }
        ) { server in
            try await withHTTP(
                .with { $0.observe = { host, result, _ in told.withLock { $0.append("\(host) \(result)") } } }
            ) {
                http async throws in
                let host = "127.0.0.1:\(server.port)"
                _ = try await http.send(HTTPCall(.get, "http://name:secret@\(host)/?a@b"), within: plenty)
                _ = try await http.send(HTTPCall(.get, "http://\(host)/bad"), within: plenty)
                _ = await http.failure(HTTPCall(.get, "http://\(host)/end"))
                #expect(told.withLock { $0 } == ["\(host) 200", "\(host) 500", "\(host) broken"])
            }
        }
    }
}
