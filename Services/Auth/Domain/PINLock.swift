import Foundation

/// Counts wrong PINs and locks after too many: pure, told the time.
///
/// An attempt is counted when it is admitted, before the slow hash is computed, and a right PIN takes the count back.
/// So any number of attempts at once admits no more than the limit.
struct PINLock: Hashable, Sendable {
    /// Attempts counted since the last right PIN or lockout.
    private(set) var failedAttempts: Int
    /// Lockouts since the last right PIN.
    private(set) var lockouts: Int
    /// Set once the last permitted attempt is admitted.
    private(set) var lockedUntil: Date?

    /// Attempts before a lockout.
    static let limit = 5
    /// The first lockout; each further one is twice as long.
    static let firstLockout = TimeInterval(15 * 60)
    /// No lockout is longer.
    static let longestLockout = TimeInterval(24 * 60 * 60)

    /// What to do with an attempt.
    enum Decision: Hashable, Sendable {
        /// Check the PIN; so many attempts are left if it is wrong.
        case check(attemptsLeft: Int)
        /// Refuse without looking at the PIN.
        case locked(until: Date)
    }

    init(failedAttempts: Int = 0, lockouts: Int = 0, lockedUntil: Date? = nil) {
        self.failedAttempts = failedAttempts
        self.lockouts = lockouts
        self.lockedUntil = lockedUntil
    }

    /// Admits an attempt or refuses it.
    mutating func admit(at now: Date) -> Decision {
        if let until = self.lockout(at: now) { return .locked(until: until) }
        if self.lockedUntil != nil {
            self.lockedUntil = nil
            self.failedAttempts = 0
        }
        self.failedAttempts += 1
        guard self.failedAttempts >= Self.limit else { return .check(attemptsLeft: Self.limit - self.failedAttempts) }
        let pause = min(Self.firstLockout * pow(2, Double(min(self.lockouts, 16))), Self.longestLockout)
        self.lockedUntil = now.addingTimeInterval(pause)
        self.lockouts += 1
        return .check(attemptsLeft: 0)
    }

    /// When the lockout ends; nil when there is none.
    func lockout(at now: Date) -> Date? { self.lockedUntil.flatMap { $0 > now ? $0 : nil } }

    /// The PIN was right.
    mutating func succeed() { self = PINLock() }

    /// An admitted attempt was not checked after all.
    mutating func giveBack() {
        guard self.failedAttempts > 0 else { return }
        let wasLast = self.failedAttempts == Self.limit
        self.failedAttempts -= 1
        guard wasLast else { return }
        self.lockedUntil = nil
        self.lockouts = max(0, self.lockouts - 1)
    }
}
