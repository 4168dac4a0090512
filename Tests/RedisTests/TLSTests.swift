import Testing

@testable import Redis

@Suite("Redis over TLS")
struct TLSTests {
    /// A server that speaks TLS alone, as the certificate of a name.
    private func withServer<R>(
        as name: String = "server",
        asksClients: Bool = false,
        _ body: (OwnRedis, OwnCertificates) async throws -> R
    ) async throws -> R {
        let certificates = try await OwnCertificates()
        let redis = try OwnRedis([
            "--port", "0", "--tls-cert-file", certificates.file("\(name).pem"), "--tls-key-file",
            certificates.file("\(name).key"), "--tls-ca-cert-file", certificates.file("ca.pem"), "--tls-auth-clients",
            asksClients ? "yes" : "no",
        ]) { ["--tls-port", "\($0)"] }
        try redis.start()
        return try await body(redis, certificates)
    }

    private func configuration(
        _ redis: OwnRedis,
        host: String = "127.0.0.1",
        trusting file: String?,
        _ adjust: (inout RedisConfiguration) -> Void = { _ in }
    ) throws -> RedisConfiguration {
        try adjusted("rediss://\(host):\(redis.port)/1") {
            $0.tlsFiles.authorities = file
            adjust(&$0)
        }
    }

    /// Why no connection comes, as the log of the client would say it.
    private func refusal(_ configuration: RedisConfiguration) async throws -> String {
        let causes = SeenCauses()
        let client = try RedisClient(configuration: configuration, logger: causes.logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            let cause = try await causes.first()
            #expect(!client.isConnected)
            group.cancelAll()
            return cause
        }
    }

    @Test("commands, a megabyte and many callers at once go through TLS")
    func commands() async throws {
        try await self.withServer { redis, certificates in
            let configuration = try self.configuration(redis, trusting: certificates.file("ca.pem"))
            try await withClient(configuration) { client async throws in
                let large = String(repeating: "x", count: 1 << 20)
                #expect(try await client.send(["SET", "k", large]) == .string("OK"))
                #expect(try await client.send(["GET", "k"]).text == large)
                let right = await withTaskGroup(of: Bool.self) { group in
                    for index in 0..<1000 {
                        group.addTask { (try? await client.send(["ECHO", "\(index)"])) == .string("\(index)") }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(right == 1000)
            }
        }
    }

    @Test("many megabytes both ways at once come through whole")
    func full() async throws {
        try await self.withServer { redis, certificates in
            let configuration = try self.configuration(redis, trusting: certificates.file("ca.pem"))
            try await withClient(configuration) { client async throws in
                let large = String(repeating: "y", count: 1 << 20)
                let right = await withTaskGroup(of: Bool.self) { group in
                    for _ in 0..<24 { group.addTask { (try? await client.send(["ECHO", large]))?.text == large } }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(right == 24)
            }
        }
    }

    @Test("a server whose certificate is of another name or of nobody known is not spoken to")
    func strangers() async throws {
        try await self.withServer(as: "stranger") { redis, certificates in
            let cause = try await self.refusal(try self.configuration(redis, trusting: certificates.file("ca.pem")))
            #expect(cause.lowercased().contains("mismatch"), "\(cause)")
        }
        try await self.withServer { redis, certificates in
            // By name the certificate of an address is not enough.
            let named = try self.configuration(redis, host: "localhost", trusting: certificates.file("ca.pem"))
            #expect(try await self.refusal(named).lowercased().contains("mismatch"))
            let unknown = try await self.refusal(try self.configuration(redis, trusting: nil))
            #expect(unknown.contains("certificate"), "\(unknown)")
        }
    }

    @Test("a server that asks who we are is shown the certificate, and without one it refuses")
    func clients() async throws {
        try await self.withServer(asksClients: true) { redis, certificates in
            let trusted = certificates.file("ca.pem")
            let known = try self.configuration(redis, trusting: trusted) {
                $0.tlsFiles.certificate = certificates.file("client.pem")
                $0.tlsFiles.key = certificates.file("client.key")
            }
            try await withClient(known) { client async throws in
                #expect(try await client.send(["PING"]) == .string("PONG"))
            }
            #expect(try await !self.refusal(try self.configuration(redis, trusting: trusted)).isEmpty)
        }
    }

    @Test("TLS to a server without it, and none to one that has it, ends in time and without a word of data")
    func mixedUp() async throws {
        let plain = try OwnRedis()
        try plain.start()
        let certificates = try await OwnCertificates()
        let configuration = try self.configuration(plain, trusting: certificates.file("ca.pem"))
        #expect(try await !self.refusal(configuration).isEmpty)
        try await self.withServer { redis, _ in
            let plainly = try adjusted("redis://127.0.0.1:\(redis.port)") { $0.connectTimeout = .milliseconds(500) }
            #expect(try await !self.refusal(plainly).isEmpty)
        }
    }

    @Test("a file that cannot be used is named by its part")
    func files() async throws {
        let certificates = try await OwnCertificates()
        let good = RedisConfiguration.TLSFiles(
            authorities: certificates.file("ca.pem"),
            certificate: certificates.file("client.pem"),
            key: certificates.file("client.key")
        )
        _ = try TLSContext(good)
        for (part, change) in [
            ("authorities", { $0.authorities = "/nowhere" }), ("certificate", { $0.certificate = "/dev/null" }),
            ("key", { $0.key = certificates.file("server.key") }),
        ] as [(String, (inout RedisConfiguration.TLSFiles) -> Void)] {
            var files = good
            change(&files)
            let error = #expect(throws: RedisError.self) { try TLSContext(files) }
            #expect(error?.code == .misconfigured && error?.reply == part, "\(part)")
        }
    }

    @Test("a server killed in the middle is found again")
    func killed() async throws {
        try await self.withServer { redis, certificates in
            let configuration = try self.configuration(redis, trusting: certificates.file("ca.pem"))
            try await withClient(configuration) { client async throws in
                await redis.kill()
                let error = await failure { () throws(RedisError) in
                    while true { _ = try await client.send(["PING"]) }
                }
                #expect(error?.code == .lost || error?.code == .unavailable)
                try redis.start()
                try await expectConnected(client)
                #expect(try await client.send(["PING"]) == .string("PONG"))
            }
        }
    }
}
