/// Pauses between attempts: they double up to a maximum, each with jitter so that many clients do not come back as one.
struct Backoff {
    private let minimum: Duration
    private let maximum: Duration
    private var next: Duration

    init(minimum: Duration, maximum: Duration) {
        self.minimum = minimum
        self.maximum = maximum
        self.next = minimum
    }

    init(_ configuration: AMQPConfiguration) {
        self.init(minimum: configuration.minimumBackoff, maximum: configuration.maximumBackoff)
    }

    /// The pause to make now: between half and all of the current step.
    mutating func pause() -> Duration { self.pause(jitter: .random(in: 0.5...1)) }

    mutating func pause(jitter: Double) -> Duration {
        let step = self.next
        self.next = min(self.maximum, step * 2)
        return step * jitter
    }

    /// Begins again with the shortest pause.
    mutating func reset() { self.next = self.minimum }
}
