import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import Testing

@testable import AuthService

@Suite("PIN", .serialized)
struct PINTests {
    private let ada = UserID(clerkSubject: "user_ada")

    private func pin(_ digits: String) throws -> PIN { try PIN(digits, pointer: "/pin") }

    private func withPIN(_ digits: String, _ body: (AuthWorld) async throws -> Void) async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.setPIN(try self.pin(digits), current: nil, of: self.ada, cause: Cause())
            try await body(world)
        }
    }

    @Test("a PIN is 4 to 6 digits and shows itself nowhere", arguments: ["123", "1234567", "12a4", "", "１２３４", "12 4"])
    func form(typed: String) throws {
        #expect(throws: FieldProblem(pointer: "/pin", rule: .pin)) { try PIN(typed, pointer: "/pin") }
        let pin = try self.pin("4821")
        #expect(!"\(pin) \(String(reflecting: pin))".contains("4821"))
        var dumped = ""
        dump(pin, to: &dumped)
        #expect(!dumped.contains("4821"))
    }

    @Test(
        "a PIN that everybody guesses first cannot be chosen, and is checked like any other",
        arguments: [
            "0000", "111111", "1212", "121212", "123123", "1234", "12345", "123456", "4321", "987654", "2580", "2000",
        ]
    )
    func guessed(typed: String) throws {
        #expect(throws: FieldProblem(pointer: "/pin", rule: .guessablePIN)) { try PIN(chosen: typed, pointer: "/pin") }
        #expect(try self.pin(typed).digits == typed)
    }

    @Test("any other PIN can be chosen", arguments: ["4821", "739155", "1243", "90909", "0112", "135792"])
    func chosen(typed: String) throws {
        #expect(try PIN(chosen: typed, pointer: "/pin").digits == typed)
    }

    @Test("of twenty wrong tries at once, five are checked and the rest hear that the PIN is locked")
    func lockout() async throws {
        try await self.withPIN("4821") { world in
            let wrong = try self.pin("0000")
            let outcomes = await withTaskGroup(of: AuthError?.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        do {
                            try await world.checkPIN(wrong, of: self.ada, cause: Cause())
                            return nil
                        } catch { return error as? AuthError }
                    }
                }
                return await group.reduce(into: [AuthError?]()) { $0.append($1) }
            }
            let left = outcomes.compactMap { outcome -> Int? in
                guard case .pinInvalid(let left) = outcome else { return nil }
                return left
            }
            #expect(left.sorted() == [0, 1, 2, 3, 4])
            #expect(outcomes.filter { if case .pinLocked = $0 { true } else { false } }.count == 15)
            // Even the right one, until the time is over.
            await #expect(throws: AuthError.self) {
                try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            }
            world.clock.advance(by: .seconds(15 * 60 + 1))
            try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await world.checkPIN(wrong, of: self.ada, cause: Cause())
            }
        }
    }

    @Test("a second PIN needs the first one, and asking with a wrong one counts")
    func change() async throws {
        try await self.withPIN("4821") { world in
            let new = try self.pin("777777")
            await #expect(throws: AuthError.currentPINRequired) {
                try await world.setPIN(new, current: nil, of: self.ada, cause: Cause())
            }
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await world.setPIN(new, current: try self.pin("1111"), of: self.ada, cause: Cause())
            }
            #expect(try await world.said() == ["user.created", "pin.set"])
            try await world.setPIN(new, current: try self.pin("4821"), of: self.ada, cause: Cause())
            #expect(try await world.said() == ["user.created", "pin.set", "pin.changed"])
            #expect(try await world.last(PINChanged.self)?.userID == self.ada.uuid)
            try await world.checkPIN(new, of: self.ada, cause: Cause())
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            }
        }
    }

    @Test("a forgotten PIN is replaced for who has just signed in, the lockout ends, and it is said once")
    func reset() async throws {
        try await self.withPIN("4821") { world in
            for _ in 0..<PINLock.limit {
                _ = try? await world.checkPIN(try self.pin("0000"), of: self.ada, cause: Cause())
            }
            await #expect(throws: AuthError.pinLocked(secondsLeft: 900)) {
                try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            }
            let new = try self.pin("777777")
            try await world.resetPIN(new, of: self.ada, provenAt: world.clock.now, cause: Cause())
            try await world.checkPIN(new, of: self.ada, cause: Cause())
            await #expect(throws: AuthError.pinInvalid(attemptsLeft: 4)) {
                try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            }
            #expect(try await world.said() == ["user.created", "pin.set", "pin.locked", "pin.reset"])
        }
    }

    @Test("a PIN is not reset for an old sign-in, an unknown one, a user without a PIN or nobody")
    func noReset() async throws {
        try await self.withPIN("4821") { world in
            let new = try self.pin("777777")
            let old = world.clock.now.addingTimeInterval(-FreshSignIn.age - 1)
            for proof in [old, nil] {
                await #expect(throws: AuthError.reverificationRequired) {
                    try await world.resetPIN(new, of: self.ada, provenAt: proof, cause: Cause())
                }
            }
            let now = world.clock.now
            try await world.onboard("user_bola", Sample.personal("bola"))
            for (subject, error) in [("user_bola", AuthError.pinNotSet), ("user_nobody", .notOnboarded)] {
                await #expect(throws: error) {
                    let user = UserID(clerkSubject: subject)
                    try await world.resetPIN(new, of: user, provenAt: now, cause: Cause())
                }
            }
            try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            #expect(try await world.said() == ["user.created", "pin.set", "user.created"])
        }
    }

    @Test("who has not signed up gets no PIN")
    func stranger() async throws {
        try await withAuth { world in
            await #expect(throws: AuthError.notOnboarded) {
                try await world.setPIN(try self.pin("4821"), current: nil, of: self.ada, cause: Cause())
            }
        }
    }

    @Test("the first PIN wants a fresh sign-in, and its owner is told; another one that is known does not")
    func firstPIN() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let pin = try self.pin("4821")
            let old = world.clock.now.addingTimeInterval(-FreshSignIn.age - 1)
            for proof in [old, nil] {
                await #expect(throws: AuthError.reverificationRequired) {
                    try await world.setPIN(pin, current: nil, of: self.ada, provenAt: proof, cause: Cause())
                }
            }
            #expect(try await world.said() == ["user.created"])
            try await world.setPIN(pin, current: nil, of: self.ada, provenAt: world.clock.now, cause: Cause())
            let setAt = try #require(try await world.last(PINSet.self).flatMap { Timestamp.parse($0.setAt) })
            #expect(abs(setAt.timeIntervalSince(world.clock.now)) < 10)
            let new = try self.pin("739155")
            try await world.setPIN(new, current: pin, of: self.ada, provenAt: nil, cause: Cause())
            #expect(try await world.said() == ["user.created", "pin.set", "pin.changed"])
        }
    }

    @Test("a lockout is told once, with its end; five right ones at once are none")
    func lockoutTold() async throws {
        try await self.withPIN("4821") { world in
            let (right, wrong) = (try self.pin("4821"), try self.pin("9999"))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { try await world.checkPIN(right, of: self.ada, cause: Cause()) } }
                try await group.waitForAll()
            }
            #expect(try await world.said(PINLocked.self).isEmpty)
            for _ in 0..<7 { _ = try? await world.checkPIN(wrong, of: self.ada, cause: Cause()) }
            let told = try await world.said(PINLocked.self).compactMap { Timestamp.parse($0.lockedUntil) }
            let until = world.clock.now.addingTimeInterval(PINLock.firstLockout)
            #expect(told.count == 1 && told.allSatisfy { abs($0.timeIntervalSince(until)) < 10 })
        }
    }

    @Test("of two who change the PIN at once, one wins and the other is told")
    func changeRace() async throws {
        try await self.withPIN("4821") { world in
            let hash = try await world.checkPIN(try self.pin("4821"), of: self.ada, cause: Cause())
            let isFirst = try await world.asUser(self.ada) { transaction in
                try await world.pins.replace(hash, by: "scrypt$a", of: self.ada, in: transaction)
            }
            let isSecond = try await world.asUser(self.ada) { transaction in
                try await world.pins.replace(hash, by: "scrypt$b", of: self.ada, in: transaction)
            }
            #expect(isFirst && !isSecond)
        }
    }
}
