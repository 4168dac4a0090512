import Foundation
import Postgres
import Testing

/// Leased connections and transactions.
@Suite struct TransactionTests {
    private struct Refused: Error, Equatable {
        let reason: Int
    }

    private func withTable(
        _ changes: [(inout PostgresConfiguration) -> Void] = [],
        _ body: (PostgresClient) async throws -> Void
    ) async throws {
        try await withDatabaseClient(changes) { client in
            try await client.withConnection {
                try await $0.simple("CREATE TABLE t (id int CONSTRAINT t_key PRIMARY KEY, x int NOT NULL DEFAULT 0)")
            }
            try await body(client)
        }
    }

    private func count(_ client: PostgresClient) async throws -> Int {
        try await client.query("SELECT count(*) FROM t")[0].decode(Int.self)
    }

    @Test("a transaction commits what its body did, as the user it was given")
    func commits() async throws {
        try await self.withTable { client in
            let user = UUID()
            let seen = try await client.withTransaction(as: user) { transaction in
                try await transaction.execute("INSERT INTO t VALUES (1), (2)")
                let rows = try await transaction.query("SELECT current_setting('transfa.user_id')")
                return try rows[0].decode(String.self)
            }
            #expect(seen == user.uuidString.lowercased())
            #expect(try await self.count(client) == 2)
            let after = try await client.withConnection { connection in
                try await connection.query("SELECT coalesce(current_setting('transfa.user_id', true), '')")[0].decode(
                    String.self
                )
            }
            #expect(after == "")
        }
    }

    @Test("what the body throws comes out as it is, and nothing is left")
    func bodyErrorPasses() async throws {
        try await self.withTable { client in
            await #expect(throws: Refused(reason: 7)) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    throw Refused(reason: 7)
                }
            }
            await #expect(throws: Refused(reason: 8)) {
                try await client.withTransaction { _ in throw Refused(reason: 8) }
            }
            let count = try await self.count(client)
            #expect(count == 0)
        }
    }

    @Test("a statement that fails first, in the middle or unnoticed is rolled back")
    func failedStatements() async throws {
        try await self.withTable { client in
            let first = try await postgresError {
                _ = try await client.withTransaction { try await $0.execute("INSERT INTO t VALUES (1 / 0)") }
            }
            #expect(first.sqlState == "22012")
            let middle = try await postgresError {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                }
            }
            #expect(middle.isUniqueViolation("t_key"))
            let swallowed = await #expect(throws: PostgresTransactionError.self) {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    _ = try? await transaction.execute("INSERT INTO t VALUES (1)")
                }
            }
            #expect(swallowed?.step == .commit)
            #expect(swallowed?.isRetryable == false)
            #expect(try await self.count(client) == 0)
        }
    }

    @Test("a pipeline is one round trip, returns the rows of each and stops at the first error")
    func pipeline() async throws {
        try await self.withTable { client in
            let answers = try await client.withTransaction { transaction in
                try await transaction.pipeline([
                    "INSERT INTO t VALUES (\(1)) RETURNING id", "SELECT 5", "UPDATE t SET x = 3", "SELECT x FROM t",
                ])
            }
            #expect(answers.map(\.count) == [1, 1, 0, 1])
            #expect(try answers[3][0].decode(Int.self) == 3)
            let error = try await postgresError {
                try await client.withConnection { connection in
                    _ = try await connection.pipeline([
                        "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (3)",
                    ])
                }
            }
            #expect(error.isUniqueViolation("t_key"))
            // Without a transaction around it the pipeline is one of its own.
            #expect(try await self.count(client) == 1)
        }
    }

    @Test("errors name the constraint and hold no value")
    func errorsHoldNoValues() async throws {
        try await self.withTable { client in
            try await client.withConnection { try await $0.execute("INSERT INTO t VALUES (424242)") }
            let unique = try await postgresError {
                try await client.withConnection { try await $0.execute("INSERT INTO t VALUES (\(424_242))") }
            }
            #expect(unique.isUniqueViolation() && unique.isUniqueViolation("t_key"))
            #expect(!unique.isUniqueViolation("other"))
            #expect(unique.constraint == "t_key")
            let syntax = try await postgresError {
                try await client.withConnection { try await $0.execute("INSERT INTO t VALUES (\("secret-word"))") }
            }
            #expect(syntax.sqlState == "22P02")
            let null = try await postgresError {
                try await client.withConnection { try await $0.execute("INSERT INTO t VALUES (737373, null)") }
            }
            #expect(null.sqlState == "23502")
            for error in [unique, syntax, null] {
                #expect(
                    !"\(error)".contains("424242") && !"\(error)".contains("secret") && !"\(error)".contains("737373")
                )
                #expect("\(error)".contains("TransactionTests.swift:"))
            }
        }
    }

    @Test("a serialization failure and a deadlock are recognised and retryable")
    func conflicts() async throws {
        try await self.withTable { client in
            try await client.withConnection { try await $0.execute("INSERT INTO t VALUES (1), (2)") }
            let failure = try await postgresError {
                try await client.withTransaction(isolation: .repeatableRead) { first in
                    _ = try await first.query("SELECT * FROM t")
                    try await client.withTransaction { try await $0.execute("UPDATE t SET x = x + 1 WHERE id = 1") }
                    try await first.execute("UPDATE t SET x = x + 1 WHERE id = 1")
                }
            }
            #expect(failure.isSerializationFailure && failure.isRetryable)
            let errors = try await self.deadlock(client)
            #expect(errors.count == 1)
            #expect(errors.first?.isDeadlock == true && errors.first?.isRetryable == true)
        }
    }

    /// Two transactions that lock two rows in opposite orders.
    private func deadlock(_ client: PostgresClient) async throws -> [PostgresError] {
        let (bothStarted, started) = AsyncStream.makeStream(of: Void.self)
        let (go, begin) = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: PostgresError?.self) { group in
            for (one, other) in [(1, 2), (2, 1)] {
                group.addTask {
                    do {
                        try await client.withTransaction { transaction in
                            try await transaction.execute("UPDATE t SET x = 1 WHERE id = \(one)")
                            started.yield()
                            for await _ in go { break }
                            try await transaction.execute("UPDATE t SET x = 1 WHERE id = \(other)")
                        }
                        return nil
                    } catch let error as PostgresError { return error }
                }
            }
            var count = 0
            for await _ in bothStarted {
                count += 1
                if count == 2 { break }
            }
            begin.finish()
            return try await group.reduce(into: []) { if let error = $1 { $0.append(error) } }
        }
    }

    @Test("the commit error of a deferred constraint is a commit error")
    func deferredConstraint() async throws {
        try await self.withTable { client in
            try await client.withConnection {
                try await $0.simple(
                    "CREATE TABLE u (id int, CONSTRAINT u_key UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)"
                )
            }
            let error = await #expect(throws: PostgresTransactionError.self) {
                try await client.withTransaction { try await $0.execute("INSERT INTO u VALUES (1), (1)") }
            }
            #expect(error?.step == .commit)
            #expect(error?.underlying.isUniqueViolation("u_key") == true)
        }
    }

    @Test("the server reports its connection gone within a body, and the next lease has another one")
    func lostInTheBody() async throws {
        try await self.withTable { client in
            let error = try await postgresError {
                try await client.withTransaction { transaction in
                    try await transaction.execute("INSERT INTO t VALUES (1)")
                    _ = try await transaction.query("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(error.code == .connectionLost)
            await #expect(throws: Refused(reason: 1)) {
                try await client.withTransaction { transaction in
                    _ = try? await transaction.query("SELECT pg_terminate_backend(pg_backend_pid())")
                    throw Refused(reason: 1)
                }
            }
            try await client.withTransaction { try await $0.execute("INSERT INTO t VALUES (2)") }
            #expect(try await self.count(client) == 1)
        }
    }

    @Test("a cancelled task stops its statement on the server and its transaction is rolled back")
    func cancelledStatement() async throws {
        try await self.withTable([{ $0.leasedConnections = 1 }]) { client in
            try await withThrowingTaskGroup(of: PostgresError.self) { group in
                group.addTask {
                    try await postgresError {
                        try await client.withTransaction { transaction in
                            try await transaction.execute("INSERT INTO t VALUES (1)")
                            try await transaction.execute("SELECT pg_sleep(60)")
                        }
                    }
                }
                try await eventually {
                    let sql: SQL = """
                        SELECT 1 FROM pg_stat_activity
                        WHERE datname = current_database() AND query = 'SELECT pg_sleep(60)' AND state = 'active'
                        """
                    return try await !client.query(sql).isEmpty
                }
                let start = ContinuousClock.now
                group.cancelAll()
                #expect(try await group.next()?.isStatementCancelled == true)
                #expect(start.duration(to: .now) < .seconds(20))
            }
            // The same connection serves the next one.
            try await client.withTransaction { try await $0.execute("INSERT INTO t VALUES (2)") }
            #expect(try await self.count(client) == 1)
        }
    }

    @Test("a leased statement is stopped when its time is over even if the server has no limit")
    func deadline() async throws {
        try await withClient(try serverURL(), [{ $0.statementTimeout = .milliseconds(200) }]) { client in
            let start = ContinuousClock.now
            let error = try await postgresError {
                try await client.withConnection { connection in
                    try await connection.simple("SET statement_timeout = 0")
                    _ = try await connection.query("SELECT pg_sleep(60)")
                }
            }
            #expect(error.isStatementCancelled)
            #expect(start.duration(to: .now) < .seconds(20))
        }
    }

    @Test("a statement that is acknowledged is given up when its time is over, and never stopped on the server")
    func acknowledgedStatement() async throws {
        try await self.withTable([{ $0.statementTimeout = .milliseconds(200) }]) { client in
            // The statement waits until this transaction ends.
            try await client.withTransaction { holder in
                try await holder.execute("LOCK TABLE t IN SHARE MODE")
                let error = try await postgresError {
                    try await client.withConnection { connection in
                        try await connection.simple("SET statement_timeout = 0")
                        _ = try await connection.commit("INSERT INTO t VALUES (1)")
                    }
                }
                #expect(error.code == .connectionLost)
                #expect(try await self.count(client) == 0)
            }
            try await eventually { try await self.count(client) == 1 }
        }
    }

    @Test("a lock of a session is free when the session is over, and not only when the server notices its end")
    func sessionLocks() async throws {
        try await self.withTable { client in
            for turn in 0..<200 {
                let isLocked = try? await client.withSession { session in
                    let isLocked = try await session.query("SELECT pg_try_advisory_lock(7)")[0].decode(Bool.self)
                    #expect(isLocked, "turn \(turn)")
                    // Also one that ends with an error.
                    if turn.isMultiple(of: 2) { throw Refused(reason: turn) }
                    return isLocked
                }
                #expect(isLocked == (turn.isMultiple(of: 2) ? nil : true))
            }
        }
    }

    @Test("a statement that is acknowledged runs to its end when its task is cancelled")
    func acknowledgedStatementOfCancelledTask() async throws {
        try await self.withTable([]) { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask {
                    try await client.withConnection { connection in
                        try await connection.commit("INSERT INTO t SELECT 1 FROM pg_sleep(2) RETURNING x").count
                    }
                }
                try await eventually {
                    let sql: SQL = """
                        SELECT 1 FROM pg_stat_activity
                        WHERE datname = current_database() AND query LIKE 'INSERT%pg_sleep(2)%' AND state = 'active'
                        """
                    return try await !client.query(sql).isEmpty
                }
                group.cancelAll()
                #expect(try await group.next() == 1)
            }
            #expect(try await self.count(client) == 1)
        }
    }

    @Test("a lease is waited for no longer than the lease timeout, in order, and only by so many")
    func exhaustion() async throws {
        try await withClient(
            try serverURL(),
            [
                { configuration in
                    configuration.leasedConnections = 1
                    configuration.leaseTimeout = .milliseconds(200)
                    configuration.maximumWaiters = 1
                }
            ]
        ) { client in
            try await eventually { client.isConnected }
            try await client.withConnection { _ in
                async let waiting = postgresError { try await client.withConnection { _ in } }
                let other = try await postgresError { try await client.withConnection { _ in } }
                let codes = [try await waiting.code, other.code]
                #expect(Set(codes) == [.leaseTimeout, .overloaded])
            }
            let value = try await client.withConnection { try await $0.query("SELECT 1").count }
            #expect(value == 1)
        }
    }

    @Test("two calls at once on one leased connection are refused")
    func oneCallAtATime() async throws {
        try await withClient(try serverURL()) { client in
            try await client.withConnection { connection in
                async let first = connection.query("SELECT pg_sleep(0.2)")
                async let second = connection.query("SELECT pg_sleep(0.2)")
                var failures: [PostgresError.Code] = []
                do { _ = try await first } catch let error as PostgresError { failures.append(error.code) }
                do { _ = try await second } catch let error as PostgresError { failures.append(error.code) }
                #expect(failures == [.unsupported])
            }
        }
    }

    @Test("a transaction left open by hand does not reach the next lease")
    func leftOpen() async throws {
        try await self.withTable([{ $0.leasedConnections = 1 }]) { client in
            try await client.withConnection { connection in
                try await connection.simple("BEGIN; INSERT INTO t VALUES (1)")
            }
            #expect(try await self.count(client) == 0)
            try await client.withConnection { try await $0.execute("INSERT INTO t VALUES (1)") }
            #expect(try await self.count(client) == 1)
        }
    }
}
