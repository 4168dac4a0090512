import Foundation
import Testing

@testable import AuthService

@Suite("PIN lock")
struct PINLockTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func minutes(_ count: Double) -> Date { self.start.addingTimeInterval(count * 60) }

    @Test("five attempts are admitted, the sixth is not looked at")
    func five() {
        var lock = PINLock()
        #expect((0..<5).map { _ in lock.admit(at: self.start) } == (0..<5).reversed().map { .check(attemptsLeft: $0) })
        #expect(lock.admit(at: self.start) == .locked(until: self.minutes(15)))
        #expect(lock.admit(at: self.minutes(14.99)) == .locked(until: self.minutes(15)))
    }

    @Test("a lockout is seen without an attempt, until it ends")
    func lockout() {
        var lock = PINLock()
        for _ in 0..<PINLock.limit {
            #expect(lock.lockout(at: self.start) == nil)
            _ = lock.admit(at: self.start)
        }
        #expect(lock.lockout(at: self.minutes(14.99)) == self.minutes(15))
        #expect(lock.lockout(at: self.minutes(15)) == nil)
    }

    @Test("each further lockout is twice as long, up to a day")
    func growth() {
        var lock = PINLock()
        var now = self.start
        var pauses: [TimeInterval] = []
        for _ in 0..<9 {
            for _ in 0..<PINLock.limit { _ = lock.admit(at: now) }
            guard case .locked(let until) = lock.admit(at: now) else {
                Issue.record("not locked")
                return
            }
            pauses.append(until.timeIntervalSince(now) / 60)
            now = until
        }
        #expect(pauses == [15, 30, 60, 120, 240, 480, 960, 1440, 1440])
    }

    @Test("a right PIN clears the count and the lockouts")
    func success() {
        var lock = PINLock()
        for _ in 0..<4 { _ = lock.admit(at: self.start) }
        lock.succeed()
        #expect(lock == PINLock())
        #expect(lock.admit(at: self.start) == .check(attemptsLeft: 4))
    }

    @Test("an attempt that was not checked is given back, even the last one")
    func givenBack() {
        var lock = PINLock()
        for _ in 0..<5 { _ = lock.admit(at: self.start) }
        lock.giveBack()
        #expect(lock == PINLock(failedAttempts: 4))
        #expect(lock.admit(at: self.start) == .check(attemptsLeft: 0))
        var fresh = PINLock()
        fresh.giveBack()
        #expect(fresh == PINLock())
    }
}
