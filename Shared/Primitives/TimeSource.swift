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
    private struct State {
        /// Milliseconds.
        var offset: Int64
        /// How often the clock was set or moved on.
        var settings: UInt64 = 0
    }

    private let state: Mutex<State>

    /// Makes the clock.
    public init(offset: Duration = .zero) { self.state = Mutex(State(offset: offset.wholeMilliseconds)) }

    /// The present moment, moved by the offset.
    public var now: Date { Date().addingTimeInterval(self.offset / .seconds(1)) }

    /// How far the clock is ahead of the system's time, in whole milliseconds.
    public var offset: Duration {
        get { .milliseconds(self.state.withLock { $0.offset }) }
        set { self.state.withLock { $0 = State(offset: newValue.wholeMilliseconds, settings: $0.settings + 1) } }
    }

    /// Moves the clock on from where it is.
    public func advance(by duration: Duration) {
        self.state.withLock { $0 = State(offset: $0.offset + duration.wholeMilliseconds, settings: $0.settings + 1) }
    }

    /// How often the clock was set or moved on.
    public var settings: UInt64 { self.state.withLock { $0.settings } }

    /// Takes over an offset that was read elsewhere, unless the clock was set since `settings` was `seen`: what was
    /// read may be older than that.
    public func follow(_ offset: Duration, unlessSetSince seen: UInt64) {
        self.state.withLock { state in
            guard state.settings == seen else { return }
            state.offset = offset.wholeMilliseconds
        }
    }
}

extension Duration {
    /// The duration in whole milliseconds, cut towards zero.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
