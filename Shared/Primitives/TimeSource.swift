public import Foundation
import Synchronization

/// Where the time comes from; injected so that tests and the sandbox can move it.
public protocol TimeSource: Sendable {
    /// The present moment.
    var now: Date { get }
}

/// The system's time.
public struct SystemClock: TimeSource {
    /// Makes the clock.
    public init() {}

    /// The present moment.
    public var now: Date { Date() }
}

/// The system's time plus an offset that can be set.
///
/// For the sandbox profile and for tests only.
public final class AdjustableClock: TimeSource {
    private let offsetMilliseconds: Atomic<Int64>

    /// Makes the clock.
    public init(offset: Duration = .zero) { self.offsetMilliseconds = Atomic(offset.wholeMilliseconds) }

    /// The present moment, moved by the offset.
    public var now: Date {
        Date().addingTimeInterval(Double(self.offsetMilliseconds.load(ordering: .relaxed)) / 1000)
    }

    /// How far the clock is ahead of the system's time, in whole milliseconds.
    public var offset: Duration {
        get { .milliseconds(self.offsetMilliseconds.load(ordering: .relaxed)) }
        set { self.offsetMilliseconds.store(newValue.wholeMilliseconds, ordering: .relaxed) }
    }

    /// Moves the clock on from where it is.
    public func advance(by duration: Duration) {
        self.offsetMilliseconds.wrappingAdd(duration.wholeMilliseconds, ordering: .relaxed)
    }
}

extension Duration {
    /// The duration in whole milliseconds, cut towards zero.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
