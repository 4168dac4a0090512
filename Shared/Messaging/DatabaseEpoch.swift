public import Postgres

/// What a service's database is called as long as nothing that was committed there has been lost: `database_epoch()`.
///
/// Whoever notes outside of Postgres that something was committed notes the epoch with it, asked before the transaction
/// began; in another epoch the note is void.
public actor DatabaseEpoch {
    /// What somebody waits for who came while the question was out.
    private enum Answer: Sendable {
        case epoch(String?)
        /// Whoever asked went away; somebody else must.
        case abandoned
    }

    private let ask: @Sendable () async throws -> String?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let lifetime: Duration
    /// Nil in it when Postgres did not answer: then nobody else waits for it in vain.
    private var belief: (epoch: String?, since: ContinuousClock.Instant)?
    private var isAsking = false
    private var waiting: [CheckedContinuation<Answer, Never>] = []

    /// Asks this database; what it said is believed for a second, counted from the question.
    public init(_ client: PostgresClient) {
        self.init(asking: { try await client.query("SELECT database_epoch()").first?.decode(String.self) })
    }

    /// For tests: asks a closure, which must end when it is cancelled.
    package init(
        asking ask: @escaping @Sendable () async throws -> String?,
        lifetime: Duration = .seconds(1),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.ask = ask
        self.lifetime = lifetime
        self.now = now
    }

    /// The epoch as it was a second ago at the most; nil when Postgres does not answer in that time, and for a second after.
    ///
    /// One question is out at a time, and who comes meanwhile waits for its answer.
    public func current() async -> String? {
        while true {
            if let belief = self.belief, belief.since.duration(to: self.now()) < self.lifetime { return belief.epoch }
            guard self.isAsking else { return await self.look() }
            let answer: Answer = await withCheckedContinuation { self.waiting.append($0) }
            if case .epoch(let epoch) = answer { return epoch }
        }
    }

    private func look() async -> String? {
        self.isAsking = true
        let since = self.now()
        let epoch = await self.answer()
        let isAbandoned = epoch == nil && Task.isCancelled
        // What was not answered is believed from now on, not from when it was asked.
        self.belief = isAbandoned ? nil : (epoch: epoch, since: epoch == nil ? self.now() : since)
        self.isAsking = false
        let answer = isAbandoned ? Answer.abandoned : .epoch(epoch)
        let waiting = self.waiting
        self.waiting.removeAll()
        for waiter in waiting { waiter.resume(returning: answer) }
        return epoch
    }

    /// An answer that takes longer than it would be believed says nothing of the present.
    private func answer() async -> String? {
        let (ask, lifetime) = (self.ask, self.lifetime)
        return await withTaskGroup(of: String?.self) { group in
            group.addTask { try? await ask() }
            group.addTask {
                try? await Task.sleep(for: lifetime)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
