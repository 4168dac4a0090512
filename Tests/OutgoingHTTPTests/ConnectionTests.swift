import EventLoops
import Glibc
import OutgoingHTTP
import TestSupport
import Testing

@Suite("connections are kept, bounded and ended")
struct ConnectionTests {
    @Test("calls one after the other use one connection, and one that ends its connection does not leave it to others")
    func kept() async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP { http async throws in
                for _ in 0..<20 { _ = try await http.send(order(server.url), within: plenty) }
                #expect(server.connections == 1)
                var last = order(server.url)
                last.endsConnection = true
                _ = try await http.send(last, within: plenty)
                #expect(server.requests.last?.values("connection") == ["close"])
                _ = try await http.send(order(server.url), within: plenty)
                #expect(server.connections == 2 && server.requests.count == 22)
            }
        }
    }

    @Test("a kept connection that its peer has ended is not used: the order goes over a new one")
    func endedByPeer() async throws {
        try await RudeServer.with(
            Manners { connection in
                if connection.request() != nil { connection.answer() }
            }
        ) { server in
            try await withHTTP { http async throws in
                for _ in 0..<50 {
                    #expect(try await http.send(order(server.url), within: plenty).status == 200)
                    try await eventually("the end to arrive", every: .milliseconds(1)) {
                        sockets(to: server.port, in: .closeWait) > 0 || sockets(to: server.port) == 0
                    }
                }
                #expect(server.requests.count == 50 && server.connections == 50)
            }
        }
    }

    @Test("a connection that gets what nobody asked for carries no other request")
    func unasked() async throws {
        try await RudeServer.with(
            Manners { connection in
                while connection.request() != nil {
                    connection.answer()
                    usleep(20_000)
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
                }
            }
        ) { server in
            try await withHTTP { http async throws in
                for _ in 0..<5 {
                    let answer = try await http.send(order(server.url), within: plenty)
                    #expect(answer.body.isEmpty)
                    try await eventually("the connection to be ended", every: .milliseconds(5)) {
                        sockets(to: server.port, in: .established) == 0
                    }
                }
                #expect(server.connections == 5)
            }
        }
    }

    @Test("a connection that nobody uses is ended")
    func idle() async throws {
        let ended = Locked(0)
        try await RudeServer.with(
            Manners { connection in
                connection.answerAll()
                ended.withLock { $0 += 1 }
            }
        ) { server in
            try await withHTTP(.with { $0.idleTime = .milliseconds(200) }) { http async throws in
                _ = try await http.send(order(server.url), within: plenty)
                try await eventually("the connection to be ended") { ended.withLock { $0 } == 1 }
                _ = try await http.send(order(server.url), within: plenty)
                #expect(server.connections == 2)
            }
        }
    }

    @Test("so many calls to a host are under way at once, the others wait, and their time runs")
    func bounded() async throws {
        let (open, most) = (Locked(0), Locked(0))
        try await RudeServer.with(
            Manners { connection in
                while connection.request() != nil {
                    let now = open.withLock { open in
                        open += 1
                        return open
                    }
                    most.withLock { $0 = max($0, now) }
                    usleep(10_000)
                    open.withLock { $0 -= 1 }
                    connection.answer()
                }
            }
        ) { server in
            try await withHTTP(.with { $0.callsAtOnce = 4 }) { http async throws in
                try await withThrowingDiscardingTaskGroup { group in
                    for _ in 0..<200 { group.addTask { _ = try await http.send(order(server.url), within: plenty) } }
                }
                #expect(server.requests.count == 200 && server.connections <= 4 && most.withLock { $0 } <= 4)
            }
        }
    }

    @Test("who waits for a place in vain was not sent")
    func waitsInVain() async throws {
        try await RudeServer.with(
            Manners { connection in
                _ = connection.request()
                connection.awaitEnd()
            }
        ) { server in
            try await withHTTP(.with { $0.callsAtOnce = 1 }) { http async throws in
                async let first = http.failure(order(server.url), within: .seconds(6))
                try await eventually("the order to be there") { server.requests.count == 1 }
                let second = await http.failure(order(server.url), within: .milliseconds(200))
                #expect(second == HTTPFailure(reason: .timedOut, isUnsent: true))
                #expect(await first == HTTPFailure(reason: .timedOut, isUnsent: false))
                #expect(server.requests.count == 1)
            }
        }
    }

    @Test("a host that hangs holds up no other one")
    func apart() async throws {
        try await RudeServer.with(Manners { $0.awaitEnd() }) { hanging in
            try await RudeServer.with(Manners { $0.answerAll() }) { server in
                try await withHTTP(.with { $0.callsAtOnce = 2 }) { http async throws in
                    let stuck = (0..<20).map { _ in Task { await http.failure(order(hanging.url), within: plenty) } }
                    try await eventually("them to hang") { hanging.connections == 2 }
                    let begin = ContinuousClock.now
                    for _ in 0..<20 { _ = try await http.send(order(server.url), within: plenty) }
                    #expect(ContinuousClock.now - begin < .seconds(20))
                    for task in stuck { task.cancel() }
                    for task in stuck { #expect(await task.value?.reason == .cancelled) }
                }
            }
        }
    }

    @Test("10,000 calls of which most are cancelled at any moment leave nothing behind")
    func cancelledByThousands() async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            try await withHTTP(.with { $0.callsAtOnce = 16 }) { http async throws in
                let answered = try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<10_000 {
                        group.addTask {
                            let call = Task { await http.failure(order(server.url)) }
                            if number % 4 != 0 {
                                if number % 3 == 0 { await Task.yield() }
                                if number % 7 == 0 { try await Task.sleep(for: .microseconds(number % 900)) }
                                call.cancel()
                            }
                            let failure = await call.value
                            #expect(failure == nil || failure?.reason == .cancelled)
                            #expect(number % 4 != 0 || failure == nil)
                            return failure == nil
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(answered >= 2500 && server.requests.count >= answered)
                // What was answered last may be kept, and no more than may be under way.
                #expect(sockets(to: server.port) <= 16)
                #expect(try await http.send(order(server.url), within: plenty).status == 200)
            }
            #expect(sockets(to: server.port) == 0)
        }
    }

    @Test("numbers of sockets that libcurl closed without a word go to others, and nothing stops")
    func numbersAgain() async throws {
        try await FullListener.with { port in
            try await RudeServer.with(Manners { $0.answerAll() }) { server in
                let configuration = HTTPClient.Configuration.with {
                    $0.callsAtOnce = 2
                    $0.connectTimeout = .milliseconds(20)
                }
                try await withHTTP(configuration) { http async throws in
                    try await withThrowingDiscardingTaskGroup { group in
                        for number in 0..<120 {
                            group.addTask {
                                // Connections that time out, names that are looked up by threads, and calls that succeed.
                                let away = await http.failure(order("http://127.0.0.1:\(port)/"))
                                #expect(away == HTTPFailure(reason: .unreachable, isUnsent: true))
                                let unknown = await http.failure(
                                    order("http://n\(number).invalid/"),
                                    within: .seconds(5)
                                )
                                #expect(unknown?.isUnsent == true)
                                let call = order(server.url)
                                let answer = try await http.send(call, within: plenty, patience: plenty)
                                #expect(answer.status == 200)
                            }
                        }
                    }
                }
                #expect(server.requests.count == 120)
            }
        }
    }

    @Test("of more hosts than connections are kept for, the oldest are closed, and no order is lost")
    func manyHosts() async throws {
        let servers = try (0..<80).map { _ in try RudeServer(Manners { $0.answerAll() }) }
        defer { for server in servers { server.stop() } }
        try await withHTTP { http async throws in
            for _ in 0..<2 {
                for server in servers {
                    #expect(try await http.send(order(server.url), within: plenty).status == 200)
                }
            }
            #expect(servers.count { sockets(to: $0.port) > 0 } <= 65)
        }
        #expect(servers.allSatisfy { $0.requests.count == 2 })
    }

    @Test("clients that are ended, or let go, leave no descriptor and no thread")
    func clients() async throws {
        try await RudeServer.with(Manners { $0.answerAll() }) { server in
            for number in 0..<100 {
                let http = HTTPClient()
                _ = try await http.send(order(server.url), within: plenty)
                if number % 2 == 0 { await http.shutdown() }
            }
            try await eventually("the connections to be closed") { sockets(to: server.port) == 0 }
            try await eventually("the threads to end", within: .seconds(60)) { threads(named: "http") <= 8 }
        }
    }
}
