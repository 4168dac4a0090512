/// Waits a moment for an answer from outside, which a job fetches, perhaps in another process.
struct AwaitAnswer: Sendable {
    /// No longer than this.
    var limit = Duration.seconds(3)

    private static let pauses: [Duration] = [.milliseconds(20), .milliseconds(50), .milliseconds(100)]
    private static let lastPause = Duration.milliseconds(200)

    /// Looks until what is found is no longer open, or the time is up; gives what was found last.
    func callAsFunction<Found: Sendable>(
        _ find: () async throws -> Found,
        while isOpen: (Found) -> Bool
    ) async throws -> Found {
        let deadline = ContinuousClock.now + self.limit
        var pauses = Self.pauses[...]
        while true {
            let found = try await find()
            guard isOpen(found), ContinuousClock.now < deadline else { return found }
            try await Task.sleep(for: pauses.popFirst() ?? Self.lastPause)
        }
    }
}
