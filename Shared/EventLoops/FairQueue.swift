/// Lets so many pieces of work run at once and the others wait, a bounded number of them.
///
/// Whoever has work under way takes no second place while others wait, and nobody takes all places or fills the queue
/// alone: a busy person waits for others, not others for a busy person. Who is cancelled, as at the deadline of a
/// request, leaves the queue.
public final class FairQueue: Sendable {
    /// Too many wait, or too many of one owner's.
    public struct Full: Error, Hashable, Sendable {}

    private struct Waiter {
        let number: UInt64
        let owner: String
        let size: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var running: [String: Int] = [:]
        /// When each of those who have work here had a turn last.
        var turns: [String: UInt64] = [:]
        var count = 0
        var waiting: [Waiter] = []
        var numbers: UInt64 = 0

        mutating func take(_ owner: String) {
            self.running[owner, default: 0] += 1
            self.count += 1
            self.turns[owner] = self.number()
        }

        mutating func give(_ owner: String) {
            self.count -= 1
            let left = self.running[owner, default: 1] - 1
            self.running[owner] = left == 0 ? nil : left
            self.forget(owner)
        }

        mutating func number() -> UInt64 {
            self.numbers += 1
            return self.numbers
        }

        /// Nothing is kept of who has nothing here.
        mutating func forget(_ owner: String) {
            guard self.running[owner] == nil, !self.waiting.contains(where: { $0.owner == owner }) else { return }
            self.turns[owner] = nil
        }

        /// Whether an owner has fewer than so many pieces of work under way.
        func hasFewer(than each: Int, _ owner: String) -> Bool { self.running[owner, default: 0] < each }

        /// Takes out whose turn it is: of those with least under way, and less than `each`, who had no turn for longest,
        /// and then came first.
        mutating func next(each: Int) -> Waiter? {
            let ranks = self.waiting.enumerated().filter { self.hasFewer(than: each, $0.element.owner) }
                .map { index, waiter in
                    (self.running[waiter.owner, default: 0], self.turns[waiter.owner, default: 0], index)
                }
            guard let first = ranks.min(by: { $0 < $1 }) else { return nil }
            return self.waiting.remove(at: first.2)
        }

        /// How large those are that wait, of one owner or of all.
        func size(of owner: String? = nil) -> Int {
            self.waiting.reduce(0) { owner == nil || $1.owner == owner ? $0 + $1.size : $0 }
        }
    }

    private let places: Int
    private let each: Int
    private let room: Int
    private let share: Int
    private let state = Locked(State())

    /// Makes a queue.
    ///
    /// - Parameters:
    ///   - places: How many run at once.
    ///   - each: How many of one owner run at once, also when nobody else wants a place: what takes long would keep
    ///     those out who come next.
    ///   - room: How large all together are that wait.
    ///   - share: How large all together are that wait for one owner; one alone may be larger.
    public init(places: Int, each: Int, room: Int, share: Int) {
        self.places = places
        self.each = each
        self.room = room
        self.share = share
    }

    /// Runs `work` when it is its turn.
    ///
    /// - Parameters:
    ///   - owner: Whose work it is.
    ///   - size: What it holds while it waits, as the queue counts.
    ///   - work: The work.
    /// - Returns: What `work` returns.
    /// - Throws: `Full`; `CancellationError` when cancelled while it waits; what `work` throws.
    public func run<Value: Sendable>(
        for owner: String,
        size: Int = 1,
        _ work: () async throws -> Value
    ) async throws -> Value {
        try await self.enter(owner, size)
        defer { self.leave(owner) }
        return try await work()
    }

    /// How many wait.
    public var waiting: Int { self.state.withLock { $0.waiting.count } }

    private func enter(_ owner: String, _ size: Int) async throws {
        let number = self.state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let waiter = Waiter(number: number, owner: owner, size: size, continuation: continuation)
                guard let answer = self.admit(waiter) else { return }
                continuation.resume(with: answer)
            }
        } onCancel: {
            let waiter = self.state.withLock { state -> Waiter? in
                guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
                let waiter = state.waiting.remove(at: index)
                state.forget(waiter.owner)
                return waiter
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The answer at once; nil for who has to wait.
    private func admit(_ waiter: Waiter) -> Result<Void, any Error>? {
        self.state.withLock { state -> Result<Void, any Error>? in
            // Here, and not before: who is cancelled from now on is found among those that wait.
            if Task.isCancelled { return .failure(CancellationError()) }
            // Who waits while there are places has as many as one may have.
            if state.count < self.places, state.hasFewer(than: self.each, waiter.owner) {
                state.take(waiter.owner)
                return .success(())
            }
            let own = state.size(of: waiter.owner)
            guard state.size() + waiter.size <= self.room, own == 0 || own + waiter.size <= self.share
            else { return .failure(Full()) }
            state.waiting.append(waiter)
            return nil
        }
    }

    private func leave(_ owner: String) {
        let next = self.state.withLock { state -> Waiter? in
            state.give(owner)
            guard let next = state.next(each: self.each) else { return nil }
            state.take(next.owner)
            return next
        }
        next?.continuation.resume()
    }
}
