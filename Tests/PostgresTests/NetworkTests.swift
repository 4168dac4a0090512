import Foundation
import Postgres
import Testing

/// What happens when the network or the server does not behave.
@Suite struct NetworkTests {
    private func withProxy(_ body: (TCPProxy, String) async throws -> Void) async throws {
        try await withDatabase { url in
            let port = try #require(URLComponents(string: url)?.port)
            let proxy = try TCPProxy(to: UInt16(port))
            defer { proxy.stop() }
            let proxied = try change(url) { components in
                components.host = "127.0.0.1"
                components.port = Int(proxy.port)
            }
            try await body(proxy, proxied)
        }
    }

    @Test("a server that appears later is found, and until then callers fail in time with the reason")
    func serverAppears() async throws {
        try await self.withProxy { proxy, url in
            try await withClient(url, [{ $0.leaseTimeout = .milliseconds(300) }]) { client in
                let read = try await postgresError { try await client.query("SELECT 1") }
                #expect(read.code == .leaseTimeout)
                // The reason is known once the first attempt has ended, which a busy machine may take longer for.
                try await eventually {
                    try await postgresError { try await client.query("SELECT 1") }.message.contains("refused")
                }
                let write = try await postgresError { try await client.withConnection { _ in } }
                #expect(write.code == .leaseTimeout)
                #expect(!client.isConnected)
                try proxy.start()
                try await eventually { client.isConnected }
                #expect(try await client.query("SELECT \(4)")[0].decode(Int.self) == 4)
            }
        }
    }

    @Test("callers that wait while the client starts are served")
    func callersWait() async throws {
        try await withClient(try serverURL()) { client in
            async let read = client.query("SELECT \(1)")
            async let write = client.withConnection { try await $0.execute("SELECT 1") }
            let (rows, count) = (try await read, try await write)
            #expect(rows.count == 1 && count == 1)
        }
    }

    @Test("a commit that did not reach the server, and one whose answer is lost, have an unknown outcome")
    func commitIsLost() async throws {
        for (fault, expected) in [
            (TCPProxy.Fault.cutBefore(Array("COMMIT\0".utf8)), 0), (.cutAfter(Array("COMMIT\0".utf8)), 1),
        ] {
            try await self.withProxy { proxy, url in
                try proxy.start()
                try await withClient(url) { client in
                    try await client.withConnection { try await $0.simple("CREATE TABLE t (x int)") }
                    try await eventually { client.isConnected }
                    proxy.set(fault)
                    let error = await #expect(throws: PostgresTransactionError.self) {
                        try await client.withTransaction { try await $0.execute("INSERT INTO t VALUES (1)") }
                    }
                    #expect(error?.step == .commitOutcomeUnknown)
                    #expect(error?.isOutcomeUnknown == true)
                    #expect(error?.isRetryable == false)
                    proxy.set(.none)
                    try await eventually {
                        let rows = try? await client.query("SELECT count(*) FROM t")
                        return try rows?.first?.decode(Int.self) == expected
                    }
                }
            }
        }
    }

    @Test("a network that swallows everything fails reads and leased statements in time")
    func blackHole() async throws {
        try await self.withProxy { proxy, url in
            try proxy.start()
            try await withClient(url, [{ $0.statementTimeout = .milliseconds(200) }]) { client in
                try await eventually { client.isConnected }
                let start = ContinuousClock.now
                proxy.set(.freeze)
                async let read = postgresError { try await client.query("SELECT 1") }
                async let write = postgresError { try await client.withConnection { try await $0.execute("SELECT 1") } }
                let codes = [try await read.code, try await write.code]
                #expect(codes == [.connectionLost, .connectionLost])
                #expect(start.duration(to: .now) < .seconds(60))
                proxy.set(.none)
                try await eventually { (try? await client.query("SELECT 1")) != nil }
            }
        }
    }

    @Test("the second of two hosts is used when the first is down, and one of the wrong kind is passed over")
    func severalHosts() async throws {
        let server = try #require(URLComponents(string: try serverURL()))
        let dead = try TCPProxy(to: 1).port
        let user = server.user ?? "postgres"
        let login = server.password.map { "\(user):\($0)" } ?? user
        let live = "\(server.host ?? "127.0.0.1"):\(server.port ?? 5432)"
        try await withClient("postgres://\(login)@127.0.0.1:\(dead),\(live)/postgres?target_session_attrs=primary") {
            client in
            let rows = try await client.query("SELECT 1")
            #expect(rows.count == 1)
        }
        let url = "postgres://\(login)@\(live)/postgres?target_session_attrs=standby"
        try await withClient(url, [{ $0.leaseTimeout = .milliseconds(500) }]) { client in
            let error = try await postgresError { try await client.query("SELECT 1") }
            #expect(error.code == .leaseTimeout)
        }
    }

    @Test("a client that is shut down answers reads under way, refuses new work and ends")
    func shutdown() async throws {
        var configuration = try PostgresConfiguration(url: try serverURL())
        configuration.shutdownGrace = .milliseconds(1_500)
        configuration.leaseTimeout = .seconds(60)
        let client = PostgresClient(configuration: configuration, logger: silent)
        let (sleeping, started) = AsyncStream.makeStream(of: Void.self)
        try await withThrowingTaskGroup(of: Int.self) { group in
            let run = Task { await client.run() }
            group.addTask {
                defer { started.finish() }
                _ = try await client.query("SELECT 1")
                started.yield()
                return try await client.query("SELECT \(5), pg_sleep(0.3)")[0].decode(Int.self)
            }
            for await _ in sleeping { break }
            // Answered behind the read under way, so that one has been sent.
            try await eventually {
                let sql: SQL = "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT $1, pg_sleep(0.3)%'"
                return try await client.withConnection { try await !$0.query(sql).isEmpty }
            }
            let held = try await postgresError {
                try await client.withConnection { connection in
                    run.cancel()
                    let refused = try await postgresError { try await client.query("SELECT 1") }
                    #expect(refused.code == .closed)
                    // Does not come back within the grace.
                    _ = try await connection.query("SELECT pg_sleep(30)")
                }
            }
            #expect(held.code == .connectionLost)
            #expect(try await group.next() == 5)
            await run.value
            let late = try await postgresError { try await client.withConnection { _ in } }
            #expect(late.code == .closed)
        }
    }

    @Test(
        "a URL that cannot be read is refused without being quoted",
        arguments: [
            "host=localhost", "mysql://secret@host/", "postgres://user:secret@host:port:more/%zz",
            "postgres://h/?secret=1",
        ]
    )
    func badURL(url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
        #expect(error?.code == .configuration)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("settings, their spaces and the application's name reach the server")
    func settings() async throws {
        try await withClient(
            try serverURL(),
            [
                { configuration in
                    configuration.applicationName = "a b"
                    configuration.settings = ["plan_cache_mode": "force_generic_plan", "transfa.note": "x y\\z"]
                    configuration.statementTimeout = .seconds(7)
                }
            ]
        ) { client in
            let rows = try await client.query(
                """
                SELECT current_setting('application_name'), current_setting('plan_cache_mode'),
                       current_setting('transfa.note'), current_setting('statement_timeout')
                """
            )
            let (name, mode, note, timeout) = try rows[0].decode(String.self, String.self, String.self, String.self)
            #expect([name, mode, note, timeout] == ["a b", "force_generic_plan", "x y\\z", "7s"])
        }
    }
}
