import Testing

@testable import Redis

@Suite("Redis commands")
struct CommandTests {
    @Test("a value comes back as it was set")
    func roundTrip() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = ownKey()
            #expect(try await client.send(["SET", key, "naïve ₦", "PX", "60000"]) == .string("OK"))
            #expect(try await client.send(["GET", key]) == .string("naïve ₦"))
            #expect(try await client.send(["DEL", key]) == .integer(1))
            #expect(try await client.send(["GET", key]) == .null)
        }
    }

    @Test("all bytes, none at all and a megabyte survive")
    func binarySafe() async throws {
        let values: [[UInt8]] = [
            Array(0...255), [], [0], Array("\r\n$5\r\n".utf8), Array(repeating: 0xfe, count: 1 << 20),
        ]
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = Array(ownKey().utf8) + [0, 13, 10, 255]
            for value in values {
                _ = try await client.send(bytes: [Array("SET".utf8), key, value, Array("PX".utf8), Array("60000".utf8)])
                let reply = try await client.send(bytes: [Array("GET".utf8), key])
                #expect(reply.data == value)
            }
            #expect(try await client.send(bytes: [Array("DEL".utf8), key]) == .integer(1))
        }
    }

    @Test("an array holds its elements in order, nothing included")
    func arrays() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = ownKey()
            _ = try await client.send(["SET", key, "7", "PX", "60000"])
            let reply = try await client.send(["MGET", key, ownKey(), key])
            #expect(reply == .array([.string("7"), .null, .string("7")]))
            #expect(reply.elements?.first?.number == 7)
        }
    }

    @Test("an error reply is thrown by its first word, and quotes neither key nor value")
    func errorReplies() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = ownKey()
            _ = try await client.send(["SET", key, "secret", "PX", "60000"])
            let wrongType = await failure { () throws(RedisError) in
                _ = try await client.send(["LPUSH", key, "secret"])
            }
            #expect(wrongType?.code == .refused)
            #expect(wrongType?.reply == "WRONGTYPE")
            let unknown = await failure { () throws(RedisError) in _ = try await client.send(["NONSENSE", "secret"]) }
            #expect(unknown?.reply == "ERR")
            #expect(unknown.map { "\($0)".contains("secret") || "\($0)".contains("NONSENSE") } == false)
            #expect(try await client.send(["GET", key]) == .string("secret"))
        }
    }

    @Test("a pipeline throws its first error after the others have run")
    func errorInPipeline() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = ownKey()
            let error = await failure { () throws(RedisError) in
                _ = try await client.pipeline([
                    ["SET", key, "a", "PX", "60000"], ["LPUSH", key, "b"], ["APPEND", key, "c"],
                ])
            }
            #expect(error?.reply == "WRONGTYPE")
            #expect(try await client.send(["GET", key]) == .string("ac"))
        }
    }

    @Test("an error inside a transaction's array is an element")
    func errorInsideExec() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = ownKey()
            let replies = try await client.pipeline([
                ["MULTI"], ["SET", key, "a", "PX", "60000"], ["LPUSH", key, "b"], ["EXEC"],
            ])
            #expect(replies.last == .array([.string("OK"), .error("WRONGTYPE")]))
        }
    }

    @Test("10,000 commands of one pipeline are answered in order")
    func pipelineOrder() async throws {
        try await withClient(try adjusted(sharedRedisURL()) { $0.maximumInFlight = 10_000 }) { client async throws in
            let key = ownKey()
            let replies = try await client.pipeline(Array(repeating: ["INCR", key], count: 10_000))
            #expect(replies == (1...10_000).map { RedisValue.integer($0) })
            _ = try await client.send(["DEL", key])
        }
    }

    @Test("10,000 commands of many callers each get their own reply")
    func manyCallers() async throws {
        try await withClient(try adjusted(sharedRedisURL()) { $0.maximumInFlight = 10_000 }) { client async throws in
            let right = await withTaskGroup(of: Bool.self) { group in
                for index in 0..<10_000 {
                    group.addTask { (try? await client.send(["ECHO", "\(index)"])) == .string("\(index)") }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(right == 10_000)
            #expect(client.commandsInFlight == 0)
        }
    }

    @Test("no other caller's command gets between those of a pipeline")
    func pipelinesStayTogether() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let key = ownKey()
            let results = try await withThrowingTaskGroup(of: RedisValue?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await client.pipeline([["MULTI"], ["INCR", key], ["INCR", key], ["EXEC"]]).last
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for result in results {
                let numbers = result?.elements?.compactMap(\.number) ?? []
                #expect(numbers.count == 2 && numbers.first.map { $0 + 1 } == numbers.last)
            }
            #expect(try await client.send(["DEL", key]) == .integer(1))
        }
    }

    @Test(
        "commands that would change the shared connection are refused unsent",
        arguments: [
            ["SUBSCRIBE", "x"], ["psubscribe", "x"], ["Monitor"], ["SELECT", "1"], ["AUTH", "x"], ["HELLO", "3"],
            ["QUIT"], ["RESET"], ["client", "reply", "off"], [], [""],
        ]
    )
    func refused(_ command: [String]) async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            let error = await failure { () throws(RedisError) in _ = try await client.send(command) }
            #expect(error?.code == .invalid)
            #expect(error?.wasNotSent == true)
        }
    }

    @Test("an empty pipeline has no replies")
    func emptyPipeline() async throws {
        try await withClient(try adjusted(sharedRedisURL())) { client async throws in
            #expect(try await client.pipeline([[String]]()) == [])
        }
    }

    @Test("the queue of commands in flight keeps its order while it is emptied and filled")
    func fifo() {
        var queue = FIFO<Int>()
        var next = 0
        for expected in 0..<5000 {
            while next < expected * 2 + 1 {
                queue.append(next)
                next += 1
            }
            #expect(queue.first == expected)
            queue.removeFirst()
        }
        #expect(Array(queue.elements) == Array(5000..<next))
    }
}
