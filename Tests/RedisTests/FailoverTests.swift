import Foundation
import TestSupport
import Testing

@testable import Redis

@Suite("Redis failover, access and memory")
struct FailoverTests {
    @Test("a server that became a replica is noticed by its refusal, and the connection is replaced")
    func demoted() async throws {
        let (first, second) = (try OwnRedis(), try OwnRedis())
        try first.start()
        try second.start()
        try await withClient(try adjusted(first.url())) { client async throws in
            let connection = try await client.send(["CLIENT", "ID"])
            _ = try await client.send(["REPLICAOF", "127.0.0.1", "\(second.port)"])
            let error = await failure { () throws(RedisError) in _ = try await client.send(["SET", "a", "1"]) }
            #expect(error?.code == .readOnly && error?.reply == "READONLY" && error?.wasNotSent == false)
            try await withClient(try adjusted(first.url())) { other async throws in
                _ = try await other.send(["REPLICAOF", "NO", "ONE"])
            }
            try await expectConnected(client)
            #expect(try await client.send(["SET", "a", "1"]) == .string("OK"))
            #expect(try await client.send(["CLIENT", "ID"]) != connection)
        }
    }

    @Test("Sentinel leads to the master, and after a failover to the new one", arguments: [nil, "secret"])
    func sentinel(password: String?) async throws {
        let locked = password.map { ["--requirepass", $0, "--masterauth", $0] } ?? []
        let (first, second) = (try OwnRedis(locked), try OwnRedis(locked))
        try first.start()
        try second.start()
        try await withClient(try adjusted(second.url(password: password))) { client async throws in
            _ = try await client.send(["REPLICAOF", "127.0.0.1", "\(first.port)"])
        }
        let sentinel = try OwnRedis.sentinel(of: first, password: password)
        try sentinel.start()
        let nobody = try freePort()
        let user = password.map { ":\($0)@" } ?? ""
        let url = "redis+sentinel://\(user)127.0.0.1:\(nobody),127.0.0.1:\(sentinel.port)/main"
        try await withClient(try adjusted(url)) { client async throws in
            let port = try await client.send(["CONFIG", "GET", "port"]).elements?.last?.text
            #expect(port == "\(first.port)")
            try await self.awaitReplica(try adjusted(sentinel.url(password: password)))
            await first.kill()
            try await eventually("the promoted server to be written", within: .seconds(60)) {
                (try? await client.send(["SET", "after", "1"])) == .string("OK")
            }
            #expect(try await client.send(["CONFIG", "GET", "port"]).elements?.last?.text == "\(second.port)")
        }
    }

    /// A Sentinel promotes only a replica that it knows.
    private func awaitReplica(_ sentinel: RedisConfiguration) async throws {
        try await withClient(sentinel) { client async throws in
            try await eventually("Sentinel to know the replica", within: .seconds(30)) {
                let replicas = try await client.send(["SENTINEL", "replicas", "main"]).elements ?? []
                return replicas.contains { $0.elements?.contains(.string("ok")) == true }
            }
        }
    }

    @Test("when Sentinel and server were both gone and are back, commands are taken again")
    func allGone() async throws {
        let redis = try OwnRedis()
        try redis.start()
        let sentinel = try OwnRedis.sentinel(of: redis)
        try sentinel.start()
        try await withClient(try adjusted("redis+sentinel://127.0.0.1:\(sentinel.port)/main")) { client async throws in
            await sentinel.kill()
            await redis.kill()
            let error = await failure { () throws(RedisError) in while true { _ = try await client.send(["PING"]) } }
            #expect(error?.code == .lost || error?.code == .unavailable)
            // Some attempts fail meanwhile.
            try await Task.sleep(for: .milliseconds(300))
            try redis.start()
            try sentinel.start()
            try await expectConnected(client)
            #expect(try await client.send(["PING"]) == .string("PONG"))
        }
    }

    @Test("a Sentinel that is behind leads to no replica, and a master of no known name is told")
    func behind() async throws {
        let (first, second) = (try OwnRedis(), try OwnRedis())
        try first.start()
        try second.start()
        let sentinel = try OwnRedis.sentinel(of: second)
        try sentinel.start()
        let causes = SeenCauses()
        try await withClient(try adjusted(second.url())) { client async throws in
            _ = try await client.send(["REPLICAOF", "127.0.0.1", "\(first.port)"])
        }
        let url = "redis+sentinel://127.0.0.1:\(sentinel.port)"
        let client = try RedisClient(configuration: try adjusted("\(url)/main"), logger: causes.logger)
        let stranger = SeenCauses()
        let other = try RedisClient(configuration: try adjusted("\(url)/other"), logger: stranger.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            group.addTask { await other.run() }
            let told = [try await causes.first(), try await stranger.first()]
            #expect(told[0].contains("no master") && told[1].contains("knows no master of that name"), "\(told)")
            group.cancelAll()
        }
    }

    @Test("a user that may touch nothing but the prefix can do all that is done")
    func prefix() async throws {
        let redis = try OwnRedis()
        try redis.start()
        try await withClient(try adjusted(redis.url())) { client async throws in
            // As the README has it.
            _ = try await client.send([
                "ACL", "SETUSER", "transfa", "on", ">secret", "~transfa:*", "+@read", "+@write", "+@scripting",
                "+@connection", "+time", "+role", "-@dangerous",
            ])
        }
        let url = "redis://transfa:secret@127.0.0.1:\(redis.port)"
        try await withClient(try adjusted(url) { $0.prefix = "transfa:" }) { client async throws in
            #expect(try await client.send(RedisCommand("SET", .key("a"), "1", "PX", .number(60_000))) == .string("OK"))
            let script = "redis.call('TIME'); return redis.call('GET', KEYS[1]) .. ARGV[1]"
            #expect(try await client.send(.eval(script, keys: ["a"], ["2"])) == .string("12"))
            #expect(try await client.send(["GET", "transfa:a"]) == .string("1"))
            let denied = await failure { () throws(RedisError) in _ = try await client.send(["GET", "a"]) }
            #expect(denied?.code == .notPermitted)
        }
    }

    @Test("a Redis without memory says so, by its own kind, and what is told of it is counted")
    func outOfMemory() async throws {
        let redis = try OwnRedis(["--maxmemory", "1mb", "--maxmemory-policy", "noeviction"])
        try redis.start()
        let seen = SeenErrors()
        try await withClient(try adjusted(redis.url()) { $0.observe = seen.note }) { client async throws in
            let error = await failure { () throws(RedisError) in
                _ = try await client.send(["SET", "a", String(repeating: "x", count: 4 << 20)])
                _ = try await client.send(["SET", "b", "1"])
            }
            #expect(error?.code == .outOfMemory && error?.reply == "OOM")
            #expect(seen.codes == [.outOfMemory])
            #expect(client.isConnected)
        }
    }

    @Test(
        "the words of errors are told apart",
        arguments: [
            ("READONLY", RedisError.Code.readOnly), ("MASTERDOWN", .readOnly), ("LOADING", .loading),
            ("OOM", .outOfMemory), ("MOVED", .cluster), ("ASK", .cluster), ("CLUSTERDOWN", .cluster),
            ("NOPERM", .notPermitted), ("NOAUTH", .notPermitted), ("WRONGTYPE", .refused), ("ERR", .refused),
        ]
    )
    func kinds(word: String, code: RedisError.Code) {
        let error = RedisError(reply: word)
        #expect(error.code == code && error.reply == word && !error.wasNotSent)
    }

    @Test("a server that speaks another protocol is left")
    func otherProtocol() async throws {
        let reader = ReplyReader()
        let error = await failure { () throws(RedisError) in
            try Array("HTTP/1.1 400 Bad Request\r\n".utf8).withUnsafeBufferPointer { bytes throws(RedisError) in
                try reader.feed(UnsafeRawBufferPointer(bytes))
            }
            _ = try reader.next()
        }
        #expect(error?.code == .lost)
    }
}
