import Foundation
import Messaging
import Postgres
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

/// Tries under keys, without HTTP: what is left behind by crashes, changes and time.
@Suite("tries of a PIN under a key", .serialized)
struct PINTryTests {
    private let ada = UserID(clerkSubject: "user_ada")

    private func pin(_ digits: String) throws -> PIN { try PIN(digits, pointer: "/pin") }

    /// The key stands for a request with these digits.
    private func scope(_ key: String, _ digits: String) throws -> IdempotencyScope {
        IdempotencyScope(
            user: self.ada,
            route: "POST /approvals",
            key: try #require(IdempotencyKey(key)),
            fingerprint: RequestFingerprint(method: "POST", path: "/approvals", body: Array(digits.utf8))
        )
    }

    private func attempt(_ digits: String, _ key: String, in world: AuthWorld) async throws {
        try await world.checkPIN(try self.pin(digits), of: self.ada, under: try self.scope(key, digits), cause: Cause())
    }

    private func withPIN(_ body: (AuthWorld) async throws -> Void) async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.setPIN(try self.pin("4821"), current: nil, of: self.ada, cause: Cause())
            try await body(world)
        }
    }

    private func outcomes(in world: AuthWorld) async throws -> [String] {
        try await world.database.psql("SELECT coalesce(outcome, 'open') FROM pin_tries ORDER BY key")
    }

    /// As it is when the process is killed after an attempt was counted: the answer was never given.
    private func crash(in world: AuthWorld) async throws {
        try await world.database.psql("UPDATE pin_tries SET outcome = NULL; UPDATE pins SET failed_attempts = 1")
    }

    /// Runs the schedule once.
    private func look(in world: AuthWorld) async throws {
        try await world.work.transaction(cause: Cause()) { try await AuthWorld.eraseClosed.ask(in: $0) }
    }

    @Test("a try that was counted and not compared is compared when it comes again, and not counted again")
    func crashed() async throws {
        try await self.withPIN { world in
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await self.attempt("1597", "k1", in: world)
            }
            try await self.crash(in: world)
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await self.attempt("1597", "k1", in: world)
            }
            #expect(try await self.outcomes(in: world) == ["wrong"])
            #expect(try await world.failedAttempts() == 1)

            try await self.attempt("4821", "k2", in: world)
            #expect(try await world.failedAttempts() == 0)
            try await self.crash(in: world)
            try await self.attempt("4821", "k2", in: world)
            #expect(try await world.failedAttempts() == 0)
            #expect(try await self.outcomes(in: world) == ["open", "right"])
        }
    }

    @Test("while the PIN is locked a try that comes again is not compared")
    func locked() async throws {
        try await self.withPIN { world in
            try await self.attempt("4821", "k1", in: world)
            for digits in ["1597", "7531", "8642", "9630", "1470"] {
                _ = try? await world.checkPIN(try self.pin(digits), of: self.ada, cause: Cause())
            }
            for _ in 0..<2 {
                do {
                    try await self.attempt("4821", "k1", in: world)
                    Issue.record("it was compared")
                } catch AuthError.pinLocked {
                    try await world.database.psql("UPDATE pin_tries SET outcome = NULL")
                }
            }
            #expect(try await world.failedAttempts() == 5)
        }
    }

    @Test("a right try that comes again clears nothing that was counted since")
    func rightAgain() async throws {
        try await self.withPIN { world in
            try await self.attempt("4821", "k1", in: world)
            for digits in ["1597", "7531"] {
                _ = try? await world.checkPIN(try self.pin(digits), of: self.ada, cause: Cause())
            }
            try await self.attempt("4821", "k1", in: world)
            #expect(try await world.failedAttempts() == 2)
            try await self.attempt("4821", "k2", in: world)
            #expect(try await world.failedAttempts() == 0)
        }
    }

    @Test("a key tries one PIN, whatever became of it")
    func otherPIN() async throws {
        try await self.withPIN { world in
            try await self.attempt("4821", "right", in: world)
            _ = try? await self.attempt("1597", "wrong", in: world)
            for key in ["right", "wrong"] {
                await #expect(throws: AuthError.keyReused) { try await self.attempt("7531", key, in: world) }
            }
            #expect(try await world.failedAttempts() == 1)
        }
    }

    @Test("what was not compared because too much waits leaves nothing, and an equal try that is open as it is")
    func busy() async throws {
        try await self.withPIN { world in
            // Nothing may wait, and so nothing is ever hashed.
            let check = world.checker(hashing: PINHasher(threads: 1, queueLimit: 0))
            let (pin, scope) = (try self.pin("1597"), try self.scope("k1", "1597"))
            await #expect(throws: AuthError.busy) {
                try await check(pin, of: self.ada, under: scope, cause: Cause())
            }
            #expect(try await world.failedAttempts() == 0)
            #expect(try await self.outcomes(in: world) == [])

            _ = try? await self.attempt("1597", "k1", in: world)
            try await self.crash(in: world)
            await #expect(throws: AuthError.busy) {
                try await check(pin, of: self.ada, under: scope, cause: Cause())
            }
            #expect(try await world.failedAttempts() == 1)
            #expect(try await self.outcomes(in: world) == ["open"])
        }
    }

    @Test("what was wrong before a change of the PIN is tried anew, and what was right is not right any more")
    func changed() async throws {
        try await self.withPIN { world in
            _ = try? await self.attempt("739155", "early", in: world)
            try await self.attempt("4821", "right", in: world)
            let new = try self.pin("739155")
            try await world.setPIN(new, current: try self.pin("4821"), of: self.ada, cause: Cause())
            try await self.attempt("739155", "early", in: world)
            await #expect(throws: AuthError.pinChanged) { try await self.attempt("4821", "right", in: world) }
            #expect(try await world.failedAttempts() == 0)
            _ = try? await self.attempt("1597", "late", in: world)
            try await world.resetPIN(try self.pin("1597"), of: self.ada, provenAt: world.clock.now, cause: Cause())
            try await self.attempt("1597", "late", in: world)
        }
    }

    @Test("tries are remembered for a day, and go with the PIN")
    func forgotten() async throws {
        try await self.withPIN { world in
            _ = try? await self.attempt("1597", "k1", in: world)
            world.clock.advance(by: .seconds(23 * 60 * 60))
            _ = try? await self.attempt("7531", "k2", in: world)
            try await self.look(in: world)
            #expect(try await self.outcomes(in: world) == ["wrong", "wrong"])
            world.clock.advance(by: .seconds(2 * 60 * 60))
            try await self.look(in: world)
            #expect(try await world.database.psql("SELECT key FROM pin_tries") == ["k2"])
            try await world.takeClerkMessage(.userDeleted(subject: "user_ada"), id: "msg_1", cause: Cause())
            #expect(try await self.outcomes(in: world) == [])
        }
    }

    @Test("a request sees its own user's tries and nobody else's")
    func rowLevelSecurity() async throws {
        try await self.withPIN { world in
            _ = try? await self.attempt("1597", "k1", in: world)
            let sql: SQL = "SELECT count(*) FROM pin_tries"
            let own = try await world.requests.client.query(sql, as: self.ada.uuid)
            #expect(try own[0].decode(Int64.self) == 1)
            let others = try await world.requests.client.query(sql, as: UserID(clerkSubject: "user_bayo").uuid)
            #expect(try others[0].decode(Int64.self) == 0)
            let none = try await world.requests.client.query(sql)
            #expect(try none[0].decode(Int64.self) == 0)
        }
    }
}
