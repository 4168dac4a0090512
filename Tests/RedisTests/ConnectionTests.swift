import TestSupport
import Testing

@testable import Redis

@Suite("Redis connection")
struct ConnectionTests {
    @Test("without a connection every command fails at once and unsent")
    func unreachable() async throws {
        let url = "redis://127.0.0.1:\(try freePort())"
        try await withClient(try adjusted(url), connected: false) { client async throws in
            let start = ContinuousClock.now
            let error = await failure { () throws(RedisError) in _ = try await client.send(["PING"]) }
            #expect(error?.code == .unavailable)
            #expect(error?.wasNotSent == true)
            // Far below the limit of a command.
            #expect(start.duration(to: .now) < .seconds(10))
            #expect(!client.isConnected)
        }
    }

    @Test("Redis killed with commands in flight: what was sent is lost, the next is refused, then it reconnects")
    func killedInFlight() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url())) { client async throws in
            redis.pause()
            let results = try await withThrowingTaskGroup(of: RedisError?.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        await failure { () throws(RedisError) in _ = try await client.send(["INCR", "x"]) }
                    }
                }
                try await expectInFlight(50, client)
                await redis.kill()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results.count == 50)
            #expect(results.allSatisfy { $0?.code == .lost && $0?.wasNotSent == false })
            let next = await failure { () throws(RedisError) in _ = try await client.send(["PING"]) }
            #expect(next?.code == .unavailable)
            #expect(client.commandsInFlight == 0)
            try redis.start()
            try await expectConnected(client)
            #expect(try await client.send(["PING"]) == .string("PONG"))
        }
    }

    @Test("every reconnect authenticates and selects the database again")
    func reconnectRestoresTheSession() async throws {
        let redis = try OwnRedis(["--requirepass", "p@ss/word"])
        try redis.start()
        try await withClient(try adjusted(redis.url(password: "p%40ss%2Fword", database: 3))) { client async throws in
            for _ in 0..<3 {
                _ = try await client.send(["SET", "here", "3"])
                #expect(try await client.send(["CLIENT", "INFO"]).text?.contains(" db=3 ") == true)
                await redis.kill()
                let probe = await failure { () throws(RedisError) in
                    while true { _ = try await client.send(["GET", "here"]) }
                }
                #expect(probe?.code == .lost || probe?.code == .unavailable)
                try redis.start()
                try await expectConnected(client)
            }
        }
    }

    @Test("a user of the access list signs in with name and password")
    func namedUser() async throws {
        let redis = try OwnRedis(["--user", "app", "on", ">secret", "~*", "+@all"])
        try redis.start()
        try await withClient(try adjusted("redis://app:secret@127.0.0.1:\(redis.port)/1")) { client async throws in
            #expect(try await client.send(["ACL", "WHOAMI"]) == .string("app"))
        }
    }

    @Test("with a wrong password it is never connected and goes on trying")
    func wrongPassword() async throws {
        let redis = try OwnRedis(["--requirepass", "right"])
        try redis.start()
        try await withClient(try adjusted(redis.url(password: "right"))) { client async throws in
            try await withClient(try adjusted(redis.url(password: "wrong")), connected: false) {
                stranger async throws in
                // Several refused sign-ins are seen by the server itself.
                var refusals = 0
                while refusals < 3 {
                    let info = try await client.send(["INFO", "errorstats"]).text ?? ""
                    let count = info.split(separator: "errorstat_WRONGPASS:count=").last?.prefix { $0.isNumber }
                    refusals = count.flatMap { Int($0) } ?? 0
                }
                #expect(!stranger.isConnected)
                let error = await failure { () throws(RedisError) in _ = try await stranger.send(["PING"]) }
                #expect(error?.code == .unavailable)
            }
        }
    }

    @Test("a server that accepts and says nothing counts as unavailable, and the client still stops")
    func silentServer() async throws {
        let server = try SilentServer()
        let url = "redis://127.0.0.1:\(server.port)"
        try await withClient(try adjusted(url) { $0.connectTimeout = .milliseconds(50) }, connected: false) {
            client async throws in
            // Longer than the time limit of connecting: it has given up at least once.
            try await Task.sleep(for: .milliseconds(150))
            let error = await failure { () throws(RedisError) in _ = try await client.send(["PING"]) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test(
        "words that nobody asked for end the connection and nothing else: it is tried again, and commands are refused",
        arguments: [
            "+OK\r\n", "-ERR no\r\n", ">2\r\n+message\r\n+news\r\n", "*1\r\n", "*-1\r\n", "$2147483647\r\n",
            ":9223372036854775808\r\n", "\u{0}", "%1\r\n+a\r\n+b\r\n",
        ]
    )
    func unasked(word: String) async throws {
        let server = try TalkativeServer(saying: word)
        defer { server.stop() }
        let url = "redis://127.0.0.1:\(server.port)"
        let configuration = try adjusted(url) {
            $0.connectTimeout = .milliseconds(200)
            $0.stuckAfter = .milliseconds(200)
            $0.firstBackoff = .milliseconds(5)
            $0.longestBackoff = .milliseconds(20)
        }
        try await withClient(configuration, connected: false) { client async throws in
            try await eventually("the client to come again", within: .seconds(30)) { server.connections >= 3 }
            let error = await failure { () throws(RedisError) in _ = try await client.send(["PING"]) }
            #expect(error?.code == .unavailable || error?.code == .lost)
        }
    }

    @Test("when the client is stopped, commands in flight still get their replies")
    func stopAnswersWhatIsInFlight() async throws {
        let redis = try OwnRedis()
        try redis.start()
        let reply = try await withThrowingTaskGroup(of: RedisValue.self) { group in
            try await withClient(try adjusted(redis.url())) { client async throws in
                redis.pause()
                group.addTask { try await client.send(["ECHO", "late but there"]) }
                try await expectInFlight(1, client)
                // The client is cancelled when this returns, a moment before the server goes on.
                group.addTask {
                    try await Task.sleep(for: .milliseconds(50))
                    redis.resume()
                    return .null
                }
            }
            return try await group.first { !$0.isNull }
        }
        #expect(reply == .string("late but there"))
    }

    @Test("when the client is stopped, commands without a reply end at their deadline and later ones are refused")
    func stopEndsAtTheDeadline() async throws {
        let redis = try OwnRedis()
        try redis.start()
        let (client, error) = try await withThrowingTaskGroup(of: RedisError?.self) { group in
            let client = try await withClient(try adjusted(redis.url())) { client async throws in
                redis.pause()
                group.addTask {
                    await failure { () throws(RedisError) in
                        _ = try await client.send(["PING"], timeout: .milliseconds(200))
                    }
                }
                try await expectInFlight(1, client)
                return client
            }
            return (client, try await group.next() ?? nil)
        }
        #expect(error?.code == .timedOut)
        let later = await failure { () throws(RedisError) in _ = try await client.send(["PING"]) }
        #expect(later?.code == .unavailable)
        #expect(await client.waitUntilConnected() == false)
    }
}
