/// The generic cell rate algorithm: of a bucket one number is kept, the time at which it will be empty again.
///
/// All times are nanoseconds of one clock.
enum RateBucket {
    /// What became of one request.
    struct Outcome: Hashable, Sendable {
        /// Whether it fits.
        let isAllowed: Bool
        /// When the bucket will be empty, as it is afterwards.
        let emptyAt: Int64
        /// How long until a request fits; 0 when this one did.
        let wait: Int64
    }

    /// Puts a request into a bucket that will be empty at `emptyAt`; one that does not fit changes nothing.
    static func add(to emptyAt: Int64?, at now: Int64, _ limit: RateLimit) -> Outcome {
        let current = max(emptyAt ?? now, now)
        let next = current + limit.interval
        let excess = next - now - limit.window
        guard excess > 0 else { return Outcome(isAllowed: true, emptyAt: next, wait: 0) }
        return Outcome(isAllowed: false, emptyAt: current, wait: excess)
    }

    /// How many requests fit right now.
    static func remaining(_ emptyAt: Int64, at now: Int64, _ limit: RateLimit) -> Int {
        Int(max(0, limit.window - max(0, emptyAt - now)) / limit.interval)
    }
}
