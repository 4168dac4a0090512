public import Foundation
public import Primitives
import Synchronization

/// Decides whether a question may be asked again: pure, told the time.
///
/// When the provider is slow, everything that is under way is asked about again and again, and the questions keep it slow.
/// So repeats are a share of what is asked for the first time, and a trickle that always flows.
public struct RepeatBudget: Sendable, Hashable {
    /// How much may be repeated.
    public struct Configuration: Sendable, Hashable {
        /// Repeats for each first call.
        public var share: Double
        /// Repeats a second, whatever else happens.
        public var perSecond: Double
        /// The most that is saved up.
        public var saved: Double

        /// Creates a configuration.
        public init(share: Double = 0.5, perSecond: Double = 50, saved: Double = 500) {
            self.share = max(0, share)
            self.perSecond = max(0, perSecond)
            self.saved = max(1, saved)
        }
    }

    private let configuration: Configuration
    /// How many repeats are left now.
    public private(set) var left: Double
    private var counted: Date

    /// Starts with everything that can be saved.
    public init(_ configuration: Configuration = Configuration(), at now: Date) {
        self.configuration = configuration
        self.left = configuration.saved
        self.counted = now
    }

    /// A first call was made.
    public mutating func noteFirst(at now: Date) { self.add(self.configuration.share, at: now) }

    /// Takes one repeat; false when none is left.
    public mutating func take(at now: Date) -> Bool {
        self.add(0, at: now)
        guard self.left >= 1 else { return false }
        self.left -= 1
        return true
    }

    /// A clock that was set back earns nothing and takes nothing.
    private mutating func add(_ amount: Double, at now: Date) {
        let seconds = max(0, now.timeIntervalSince(self.counted))
        self.counted = now
        self.left = min(self.configuration.saved, self.left + amount + seconds * self.configuration.perSecond)
    }
}

/// A budget that all who ask the provider in one process share.
public final class AnchorRepeats: Sendable {
    private let budget: Mutex<RepeatBudget>
    private let time: any TimeSource

    /// Creates a full budget.
    public init(_ configuration: RepeatBudget.Configuration = .init(), time: any TimeSource = SystemClock()) {
        self.budget = Mutex(RepeatBudget(configuration, at: time.now))
        self.time = time
    }

    /// A first call was made.
    public func noteFirst() { self.budget.withLock { $0.noteFirst(at: self.time.now) } }

    /// Takes one repeat; false when none is left.
    public func take() -> Bool { self.budget.withLock { $0.take(at: self.time.now) } }
}
