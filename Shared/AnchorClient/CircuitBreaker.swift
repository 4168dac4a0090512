public import Foundation
public import Primitives
import Synchronization

/// Decides whether a call may be made: pure, told the time.
public struct CircuitBreaker: Sendable, Hashable {
    /// When to open and for how long.
    public struct Configuration: Sendable, Hashable {
        /// Failures in a row that open the circuit.
        public var failures: Int
        /// How long it stays open before one call may probe.
        public var openFor: Duration

        /// Creates a configuration.
        public init(failures: Int = 10, openFor: Duration = .seconds(5)) {
            self.failures = max(1, failures)
            self.openFor = openFor
        }
    }

    /// Where the circuit is.
    public enum State: Sendable, Hashable {
        /// Calls pass; `failures` came in a row.
        case closed(failures: Int)
        /// Calls are refused until the time.
        case open(until: Date)
        /// One call is out as a probe; others are refused. A probe that never reports gives way at the time.
        case probing(until: Date)
    }

    /// How a call ended, as far as the circuit cares.
    public enum Outcome: Sendable, Hashable {
        /// The provider answered, even if with a refusal.
        case answered
        /// The provider could not be reached or failed.
        case unavailable
        /// Says nothing about the provider, such as a cancelled task.
        case unknown
    }

    private let configuration: Configuration
    /// Where the circuit is.
    public private(set) var state = State.closed(failures: 0)

    /// Creates a closed circuit.
    public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Asks for permission for one call; every permitted call must be reported.
    public mutating func permits(at now: Date) -> Bool {
        switch self.state {
        case .closed: return true
        case .open(let until), .probing(let until):
            guard now >= until else { return false }
            self.state = .probing(until: self.later(than: now))
            return true
        }
    }

    /// Reports how a permitted call ended.
    public mutating func report(_ outcome: Outcome, at now: Date) {
        switch (self.state, outcome) {
        case (.closed, .answered), (.probing, .answered): self.state = .closed(failures: 0)
        case (.closed(let failures), .unavailable) where failures + 1 < self.configuration.failures:
            self.state = .closed(failures: failures + 1)
        case (.closed, .unavailable), (.probing, .unavailable): self.state = .open(until: self.later(than: now))
        case (.probing, .unknown): self.state = .open(until: now)
        // Calls that began before the circuit opened and end now change nothing.
        case (.closed, .unknown), (.open, _): break
        }
    }

    private func later(than now: Date) -> Date {
        now.addingTimeInterval(Double(self.configuration.openFor.wholeMilliseconds) / 1000)
    }
}

/// A circuit breaker that the clients of one provider share.
public final class AnchorCircuit: Sendable {
    private let breaker: Mutex<CircuitBreaker>
    private let time: any TimeSource

    /// Creates a closed circuit.
    public init(_ configuration: CircuitBreaker.Configuration = .init(), time: any TimeSource = SystemClock()) {
        self.breaker = Mutex(CircuitBreaker(configuration))
        self.time = time
    }

    /// Where the circuit is.
    public var state: CircuitBreaker.State { self.breaker.withLock { $0.state } }

    /// Makes the call if the circuit permits, else throws `circuitOpen` at once.
    public func run<Answer>(
        _ call: () async throws(AnchorError) -> Answer
    ) async throws(AnchorError) -> Answer {
        guard self.breaker.withLock({ $0.permits(at: self.time.now) }) else { throw AnchorError.circuitOpen }
        do {
            let answer = try await call()
            self.report(.answered)
            return answer
        } catch {
            self.report(error.circuitOutcome)
            throw error
        }
    }

    private func report(_ outcome: CircuitBreaker.Outcome) {
        self.breaker.withLock { $0.report(outcome, at: self.time.now) }
    }
}

extension AnchorError {
    fileprivate var circuitOutcome: CircuitBreaker.Outcome {
        if self.isUnavailability { return .unavailable }
        if case .cancelled = self { return .unknown }
        return .answered
    }
}
