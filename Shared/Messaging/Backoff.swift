/// Growing pauses with jitter, so that replicas do not knock in step.
public struct Backoff: Sendable {
    /// The first pause, in milliseconds.
    public let first: Duration
    /// No pause is longer.
    public let maximum: Duration
    private var attempt = 0

    /// Starts at the first pause.
    public init(first: Duration = .milliseconds(100), maximum: Duration = .seconds(5)) {
        self.first = first
        self.maximum = maximum
    }

    /// The next pause: doubled each time, then between half and the whole of it.
    public mutating func next() -> Duration {
        defer { self.attempt += 1 }
        return Self.pause(attempt: self.attempt, first: self.first, maximum: self.maximum)
    }

    /// The pause before the given repeat, counted from 0.
    public static func pause(attempt: Int, first: Duration, maximum: Duration) -> Duration {
        let whole = min(first * Double(1 << min(attempt, 20)), maximum)
        return whole * Double.random(in: 0.5...1)
    }

    /// Back to the first pause.
    public mutating func reset() { self.attempt = 0 }
}
