import Testing

@testable import Redis

@Suite("Redis deadlines and bounds")
struct DeadlineTests {
    @Test("a reply after its deadline is dropped and confuses no later one")
    func lateReply() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url())) { client async throws in
            let connection = try await client.send(["CLIENT", "ID"])
            redis.pause()
            let late = await failure { () throws(RedisError) in
                _ = try await client.pipeline([["ECHO", "late"], ["ECHO", "later"]], timeout: .milliseconds(50))
            }
            #expect(late?.code == .timedOut)
            #expect(late?.wasNotSent == false)
            #expect(client.commandsInFlight == 2)
            redis.resume()
            for index in 0..<100 {
                #expect(try await client.send(["ECHO", "\(index)"]) == .string("\(index)"))
            }
            #expect(try await client.send(["CLIENT", "ID"]) == connection)
            #expect(client.commandsInFlight == 0)
        }
    }

    @Test("commands behind a blocking one that was given up get their own replies once it ends")
    func blockingCommand() async throws {
        let configuration = try adjusted(sharedRedisURL())
        try await withClient(configuration) { client async throws in
            try await withClient(configuration) { other async throws in
                let key = ownKey()
                let blocked = await failure { () throws(RedisError) in
                    _ = try await client.send(["BLPOP", key, "30"], timeout: .milliseconds(50))
                }
                #expect(blocked?.code == .timedOut)
                async let behind = client.send(["ECHO", "behind"])
                try await expectInFlight(2, client)
                #expect(try await other.send(["RPUSH", key, "not for the one behind"]) == .integer(1))
                #expect(try await behind == .string("behind"))
            }
        }
    }

    @Test("a short deadline behind a long one is kept")
    func shortBehindLong() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url())) { client async throws in
            redis.pause()
            async let long = client.send(["ECHO", "long"], timeout: .seconds(20))
            try await expectInFlight(1, client)
            let start = ContinuousClock.now
            let short = await failure { () throws(RedisError) in
                _ = try await client.send(["ECHO", "short"], timeout: .milliseconds(50))
            }
            #expect(short?.code == .timedOut)
            #expect(start.duration(to: .now) < .seconds(15))
            // And one that comes while the oldest has been given up already.
            let second = await failure { () throws(RedisError) in
                _ = try await client.send(["ECHO", "short"], timeout: .milliseconds(50))
            }
            #expect(second?.code == .timedOut)
            redis.resume()
            #expect(try await long == .string("long"))
        }
    }

    @Test("when no reply comes at all the connection is replaced")
    func stuckConnection() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url()) { $0.stuckAfter = .milliseconds(200) }) { client async throws in
            let connection = try await client.send(["CLIENT", "ID"])
            redis.pause()
            let errors = await withTaskGroup(of: RedisError?.self) { group in
                for index in 0..<6 {
                    group.addTask {
                        await failure { () throws(RedisError) in
                            let timeout: Duration = index < 3 ? .milliseconds(50) : .seconds(20)
                            _ = try await client.send(["ECHO", "\(index)"], timeout: timeout)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1?.code) }
            }
            #expect(errors.filter { $0 == .timedOut }.count == 3)
            #expect(errors.filter { $0 == .lost }.count == 3)
            redis.resume()
            try await expectConnected(client)
            #expect(try await client.send(["CLIENT", "ID"]) != connection)
        }
    }

    @Test("a slow but answering connection is not replaced")
    func slowButAlive() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url()) { $0.stuckAfter = .milliseconds(700) }) { client async throws in
            let connection = try await client.send(["CLIENT", "ID"])
            let replies = try await withThrowingTaskGroup(of: RedisValue.self) { group in
                for _ in 0..<8 { group.addTask { try await client.send(["BLPOP", "nothing", "0.1"]) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(replies == Array(repeating: .null, count: 8))
            #expect(try await client.send(["CLIENT", "ID"]) == connection)
        }
    }

    @Test("more commands than the bound are refused at once, and taken again when there is room")
    func backpressure() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url()) { $0.maximumInFlight = 10 }) { client async throws in
            redis.pause()
            let replies = try await withThrowingTaskGroup(of: RedisValue.self) { group in
                for index in 0..<8 { group.addTask { try await client.send(["ECHO", "\(index)"]) } }
                try await expectInFlight(8, client)
                let tooMany = await failure { () throws(RedisError) in
                    _ = try await client.pipeline([["PING"], ["PING"], ["PING"]])
                }
                #expect(tooMany?.code == .busy)
                #expect(tooMany?.wasNotSent == true)
                group.addTask { try await client.send(["ECHO", "8"]) }
                group.addTask { try await client.send(["ECHO", "9"]) }
                try await expectInFlight(10, client)
                let oneMore = await failure { () throws(RedisError) in _ = try await client.send(["PING"]) }
                #expect(oneMore?.code == .busy)
                redis.resume()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(replies) == Set((0..<10).map { .string("\($0)") }))
            #expect(try await client.pipeline([["PING"], ["PING"], ["PING"]]).count == 3)
        }
    }

    @Test("more bytes than the bound are refused at once")
    func byteBound() async throws {
        try await withClient(try adjusted(sharedRedisURL()) { $0.maximumBytesInFlight = 1000 }) { client async throws in
            let error = await failure { () throws(RedisError) in
                _ = try await client.send(["ECHO", String(repeating: "x", count: 1000)])
            }
            #expect(error?.code == .busy)
            #expect(try await client.send(["ECHO", "small"]) == .string("small"))
        }
    }

    @Test("a closed loop of as many callers as the bound is never refused")
    func closedLoopAtTheBound() async throws {
        try await withClient(try adjusted(sharedRedisURL()) { $0.maximumInFlight = 20 }) { client async throws in
            let failures = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        var failures = 0
                        for _ in 0..<200 where (try? await client.send(["PING"])) == nil { failures += 1 }
                        return failures
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(failures == 0)
        }
    }
}
