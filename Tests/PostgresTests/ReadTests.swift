import Foundation
import Postgres
import Testing

/// Reads that share pipelined connections.
@Suite struct ReadTests {
    @Test("an error in one read leaves its neighbours in the pipeline unharmed")
    func neighboursAreUnharmed() async throws {
        try await withClient(try serverURL()) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<300 {
                    group.addTask {
                        if number % 3 == 0 {
                            let error = try await postgresError { _ = try await client.query("SELECT \(number) / 0") }
                            #expect(error.sqlState == "22012", "\(error)")
                        } else if number % 3 == 1 {
                            let error = try await postgresError { _ = try await client.query("SELEC \(number)") }
                            #expect(error.sqlState == "42601", "\(error)")
                        } else {
                            let rows = try await client.query("SELECT \(number), repeat('x', \(number)::int)")
                            let (back, text) = try rows[0].decode(Int.self, String.self)
                            #expect(back == number)
                            #expect(text.count == number)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a connection terminated under many reads gives each its own answer or an error, and is replaced")
    func terminatedInThePipeline() async throws {
        try await withClient(try serverURL()) { client in
            _ = try await client.query("SELECT 1")
            for _ in 0..<5 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            do throws(PostgresError) {
                                let rows =
                                    number == 100
                                    ? try await client.query("SELECT \(number), pg_terminate_backend(pg_backend_pid())")
                                    : try await client.query("SELECT \(number), null::boolean")
                                #expect(try rows[0].decode(Int.self) == number)
                            } catch {
                                #expect(error.isConnectionFailure, "\(error)")
                                #expect(error.isRetryable)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                try await eventually { (try? await client.query("SELECT 1")) != nil }
            }
        }
    }

    @Test("the user of a read is set for that read alone")
    func userOfARead() async throws {
        try await withClient(try serverURL()) { client in
            let users = (0..<20).map { _ in UUID() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in users {
                    group.addTask {
                        let rows = try await client.query("SELECT current_setting('transfa.user_id')", as: user)
                        #expect(try rows[0].decode(String.self) == user.uuidString.lowercased())
                    }
                    group.addTask {
                        let rows = try await client.query(
                            "SELECT coalesce(current_setting('transfa.user_id', true), '')"
                        )
                        #expect(try rows[0].decode(String.self) == "")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a shared connection refuses to write")
    func readsAreReadOnly() async throws {
        try await withDatabaseClient { client in
            try await client.withConnection { try await $0.execute("CREATE TABLE t (x int)") }
            let error = try await postgresError { _ = try await client.query("INSERT INTO t VALUES (1)") }
            #expect(error.sqlState == "25006")
        }
    }

    @Test("a read that takes too long is stopped by the server and its neighbours are answered")
    func statementTimeout() async throws {
        try await withClient(try serverURL(), [{ $0.statementTimeout = .milliseconds(300) }]) { client in
            async let slow = postgresError { _ = try await client.query("SELECT pg_sleep(30)") }
            async let fast = client.query("SELECT \(7)")
            let error = try await slow
            #expect(error.isStatementCancelled)
            let rows = try await fast
            #expect(try rows[0].decode(Int.self) == 7)
        }
    }

    @Test("a cancelled reader stops waiting and the pipeline goes on")
    func cancelledReader() async throws {
        try await withClient(try serverURL()) { client in
            _ = try await client.query("SELECT 1")
            try await client.withConnection { connection in
                // The reader waits for this lock, however slow the machine is.
                _ = try await connection.query("SELECT pg_advisory_lock(1)")
                try await withThrowingTaskGroup(of: PostgresError?.self) { group in
                    group.addTask {
                        try await postgresError { _ = try await client.query("SELECT pg_advisory_xact_lock(1)") }
                    }
                    try await eventually {
                        let sql: SQL = """
                            SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database
                            WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted
                            """
                        return try await !connection.query(sql).isEmpty
                    }
                    group.cancelAll()
                    let outcome = try await group.next()
                    #expect(outcome??.code == .cancelled)
                }
                _ = try await connection.query("SELECT pg_advisory_unlock(1)")
            }
            #expect(try await client.query("SELECT \(3)")[0].decode(Int.self) == 3)
        }
    }

    @Test("answers and parameters larger than every buffer pass in both directions at once")
    func largerThanTheBuffers() async throws {
        try await withClient(try serverURL()) { client in
            let large = String(repeating: "0123456789abcdef", count: 1 << 18)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<12 {
                    group.addTask {
                        let rows = try await client.query("SELECT \(number), \(large)::text || \(large)::text")
                        let (back, text) = try rows[0].decode(Int.self, String.self)
                        #expect(back == number)
                        #expect(text.utf8.count == 2 * large.utf8.count)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("many different statements go on working when the cache of prepared ones is full")
    func cacheOfStatements() async throws {
        try await withClient(try serverURL(), [{ $0.preparedStatements = 4 }]) { client in
            for round in 0..<3 {
                for number in 0..<12 {
                    let rows = try await client.query("SELECT \(round), \(unsafe: "\(number)")::bigint")
                    #expect(try rows[0].decode(Int.self, Int.self) == (round, number))
                }
            }
            let rows = try await client.query("SELECT count(*) FROM pg_prepared_statements")
            #expect(try rows[0].decode(Int.self) <= 5)
        }
    }

    @Test("a statement whose tables have changed works again at the second try")
    func changedTables() async throws {
        try await withDatabaseClient { client in
            try await client.withConnection { try await $0.simple("CREATE TABLE t (x int); INSERT INTO t VALUES (1)") }
            #expect(try await client.query("SELECT * FROM t")[0].count == 1)
            try await client.withConnection { try await $0.simple("ALTER TABLE t ADD y int") }
            let error = try await postgresError { _ = try await client.query("SELECT * FROM t") }
            #expect(error.sqlState == "0A000")
            #expect(try await client.query("SELECT * FROM t")[0].count == 2)
        }
    }

    @Test("COPY is refused, hidden or not, and the client goes on")
    func copyIsRefused() async throws {
        try await withDatabaseClient { client in
            let plain = try await postgresError { _ = try await client.query("  copy pg_class TO STDOUT") }
            #expect(plain.code == .unsupported)
            let hidden = try await postgresError { _ = try await client.query("/* */ COPY pg_class TO STDOUT") }
            #expect(hidden.code == .unsupported)
            let simple = try await postgresError {
                try await client.withConnection { try await $0.simple("COPY pg_class TO STDOUT") }
            }
            #expect(simple.code == .unsupported)
            try await eventually { (try? await client.query("SELECT 1")) != nil }
        }
    }

    @Test("with room for one statement, one after the other is taken: an answer makes room")
    func pipelineOfOne() async throws {
        try await withClient(try serverURL(), [{ $0.pipelineDepth = 1 }]) { client in
            for number in 0..<500 {
                let rows = try await client.query("SELECT \(number)")
                #expect(try rows[0].decode(Int.self) == number)
            }
        }
    }

    @Test("more statements than a connection may have under way are refused")
    func pipelineDepth() async throws {
        try await withClient(try serverURL(), [{ $0.pipelineDepth = 4 }]) { client in
            _ = try await client.query("SELECT 1")
            let outcomes = try await withThrowingTaskGroup(of: PostgresError.Code?.self) { group in
                for _ in 0..<12 {
                    group.addTask {
                        do throws(PostgresError) { _ = try await client.query("SELECT pg_sleep(0.1)") } catch {
                            return error.code
                        }
                        return nil
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .overloaded } >= 1)
            #expect(outcomes.count { $0 == nil } >= 4)
        }
    }
}
