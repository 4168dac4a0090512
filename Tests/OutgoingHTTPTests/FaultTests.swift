import EventLoops
import Glibc
import OutgoingHTTP
import TestSupport
import Testing

@Suite("a call that fails")
struct FaultTests {
    @Test("who does not listen, or has no name, was not sent anything, and is said to be away at once")
    func nobody() async throws {
        try await withHTTP { http async throws in
            let begin = ContinuousClock.now
            for host in ["127.0.0.1:\(try freePort())", "[::1]:\(try freePort())", "nowhere.invalid"] {
                let failure = await http.failure(order("http://\(host)/"))
                #expect(failure == HTTPFailure(reason: .unreachable, isUnsent: true), "\(host)")
            }
            #expect(ContinuousClock.now - begin < .seconds(20))
        }
    }

    @Test("who accepts no connection in time was not sent anything")
    func silentConnect() async throws {
        // A listener whose queue is full drops what comes.
        try await FullListener.with { port in
            try await withHTTP(.with { $0.connectTimeout = .milliseconds(300) }) { http async throws in
                let failure = await http.failure(order("http://127.0.0.1:\(port)/"))
                #expect(failure == HTTPFailure(reason: .unreachable, isUnsent: true))
            }
        }
    }

    @Test("who is away is waited for as long as patience allows, or the limit")
    func patience() async throws {
        try await withHTTP { http async throws in
            let url = "http://127.0.0.1:\(try freePort())/"
            for (limit, patience) in [(Duration.seconds(1), plenty), (plenty, .seconds(1))] {
                let begin = ContinuousClock.now
                let failure = await http.failure(order(url), within: limit, patience: patience)
                #expect(failure?.isUnsent == true, "\(String(describing: failure))")
                // When exactly is the machine's; a machine that stands still may find the limit over first.
                #expect([.unreachable, .timedOut].contains(failure?.reason))
                #expect(ContinuousClock.now - begin > .milliseconds(700))
            }
        }
    }

    @Test("who comes while somebody waits is reached once")
    func awaited() async throws {
        let port = try freePort()
        try await withHTTP { http async throws in
            async let answer = http.send(order("http://localhost:\(port)/"), within: plenty, patience: plenty)
            try await Task.sleep(for: .milliseconds(400))
            let server = try RudeServer(on: port, Manners { $0.answerAll() })
            defer { server.stop() }
            #expect(try await answer.status == 200)
            #expect(server.requests.count == 1)
        }
    }

    /// What a server does with an order, and what the caller may think.
    static let faults: [(String, @Sendable (RudeConnection) -> Void, HTTPFailure.Reason)] = [
        ("closes without a word", { _ = $0.request() }, .broken),
        (
            "resets",
            { connection in
                _ = connection.request()
                connection.reset()
            }, .broken
        ),
        ("closes before it has read", { _ = $0.swallow(5) }, .broken),
        (
            "ends within the head",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\nContent-Le")
            }, .broken
        ),
        (
            "ends after the head's first line",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\n")
            }, .broken
        ),
        (
            "ends within the body",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            }, .broken
        ),
        (
            "ends within a chunk",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf")
            }, .broken
        ),
        (
            "speaks something else",
            { connection in
                _ = connection.request()
                connection.write("SSH-2.0-OpenSSH_9.2\r\n")
            }, .broken
        ),
        (
            "has chunks that are none",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n")
            }, .broken
        ),
        (
            "answers without end",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
                while connection.write(chunk) {}
            }, .answerTooLong
        ),
        (
            "has a head without end",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\n")
                while connection.write("X-More: \(String(repeating: "x", count: 8000))\r\n") {}
            }, .answerTooLong
        ),
        (
            "says nothing",
            { connection in
                _ = connection.request()
                connection.awaitEnd()
            }, .timedOut
        ),
        (
            "is slow with the head",
            { connection in
                _ = connection.request()
                for byte in "HTTP/1.1 200 OK\r\nX: \(String(repeating: "y", count: 1000))" {
                    guard connection.write(String(byte)) else { return }
                    usleep(50_000)
                }
            }, .timedOut
        ),
        (
            "is slow with the body",
            { connection in
                _ = connection.request()
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                while connection.write("x") { usleep(50_000) }
            }, .timedOut
        ),
        (
            "answers 100 for ever",
            { connection in
                _ = connection.request()
                while connection.write("HTTP/1.1 100 Continue\r\n\r\n") { usleep(20_000) }
            }, .timedOut
        ),
    ]

    @Test(
        "what a server did with an order that it has got is not known, and it is asked once",
        arguments: faults.indices
    )
    func mayHaveBeenSent(index: Int) async throws {
        let (name, manners, reason) = Self.faults[index]
        try await RudeServer.with(Manners(manners)) { server in
            try await withHTTP { http async throws in
                // Long enough for a connection on a machine that stands still for a while.
                let limit = reason == .timedOut ? Duration.seconds(5) : plenty
                let failure = await http.failure(order(server.url), within: limit, patience: plenty)
                #expect(
                    failure?.reason == reason && failure?.isUnsent == false,
                    "\(name): \(String(describing: failure))"
                )
                #expect(server.connections == 1 && server.requests.count <= 1)
                // Nothing of it stays behind.
                try await eventually("its connection to be closed") { sockets(to: server.port) == 0 }
            }
        }
    }

    @Test("an answer that is too long keeps its status and when to ask again")
    func tooLongKeepsHead() async throws {
        try await RudeServer.with(
            Manners { connection in
                _ = connection.request()
                connection.answer(429, String(repeating: "x", count: 2000), headers: "Retry-After: 9\r\n")
            }
        ) { server in
            try await withHTTP { http async throws in
                var call = order(server.url)
                call.longestAnswer = 1999
                let failure = await http.failure(call)
                #expect(failure?.reason == .answerTooLong && failure?.status == 429 && failure?.retryAfter == 9)
                call.longestAnswer = 2000
                #expect(try await http.send(call, within: plenty).body.count == 2000)
            }
        }
    }

    @Test("a call that is cancelled ends at once: before it is sent it was not, afterwards it may have been")
    func cancelled() async throws {
        try await RudeServer.with(
            Manners { connection in
                _ = connection.request()
                connection.awaitEnd()
            }
        ) { server in
            try await withHTTP { http async throws in
                let under = Task { await http.failure(order(server.url)) }
                try await eventually("the order to be there") { server.requests.count == 1 }
                under.cancel()
                #expect(await under.value == HTTPFailure(reason: .cancelled, isUnsent: false))
                let before = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await http.failure(order(server.url))
                }
                #expect(await before.value == HTTPFailure(reason: .cancelled, isUnsent: true))
                #expect(server.requests.count == 1)
                try await eventually("the connection to be closed") { sockets(to: server.port) == 0 }
            }
        }
    }

    @Test("a client that ends tells its calls, closes everything, and takes no more")
    func shutdown() async throws {
        try await RudeServer.with(
            Manners { connection in
                _ = connection.request()
                connection.awaitEnd()
            }
        ) { server in
            var configuration = HTTPClient.Configuration()
            configuration.callsAtOnce = 1
            let http = HTTPClient(configuration)
            async let first = http.failure(order(server.url))
            try await eventually("the order to be there") { server.requests.count == 1 }
            let second = Task { await http.failure(order(server.url)) }
            try await Task.sleep(for: .milliseconds(50))
            await http.shutdown()
            #expect(await first == HTTPFailure(reason: .cancelled, isUnsent: false))
            #expect(await second.value == HTTPFailure(reason: .cancelled, isUnsent: true))
            #expect(sockets(to: server.port) == 0)
            #expect(await http.failure(order(server.url)) == HTTPFailure(reason: .cancelled, isUnsent: true))
            await http.shutdown()
        }
    }
}
