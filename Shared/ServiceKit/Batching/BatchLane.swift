import DequeModule

/// Handles items one batch after the other: whatever has gathered while the last batch was in the database goes next.
///
/// At low load an item is a batch of its own and waits for nothing; under load batches grow by themselves.
public actor BatchLane<Item: Sendable, Answer: Sendable> {
    private struct Waiting {
        let item: Item
        let answer: CheckedContinuation<Answer, any Error>
    }

    private let full: any Error
    private let closed: any Error
    private let handle: @Sendable ([Item]) async throws -> [Answer]
    private var waiting = Deque<Waiting>()
    private var isClosed = false
    private let doorbell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    /// Bigger batches collide more with those of other lanes and gain little.
    private let maximumBatch = 64
    /// More would only wait longer than clients do.
    private let capacity = 4096

    /// Makes a lane that works while `run()` runs.
    ///
    /// - Parameters:
    ///   - full: What an item is refused with when too many wait.
    ///   - closed: What an item is refused with after the end.
    ///   - handle: Answers each item of a batch, in their order. When it throws, every item gets a batch of its own, so
    ///     that one cannot spoil the others: it must bear to be repeated.
    public init(
        full: any Error,
        closed: any Error,
        handle: @escaping @Sendable ([Item]) async throws -> [Answer]
    ) {
        self.full = full
        self.closed = closed
        self.handle = handle
        (self.doorbell, self.ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Waits for the answer to one item.
    ///
    /// - Throws: `full`, `closed`; what `handle` throws for it alone.
    public func submit(_ item: Item) async throws -> Answer {
        guard !self.isClosed else { throw self.closed }
        guard self.waiting.count < self.capacity else { throw self.full }
        return try await withCheckedThrowingContinuation { continuation in
            self.waiting.append(Waiting(item: item, answer: continuation))
            self.ring.yield()
        }
    }

    /// Works until cancelled; what still waits then is refused, and whoever sent it may send it again.
    public func run() async {
        for await _ in self.doorbell {
            while !self.waiting.isEmpty { await self.handleBatch() }
        }
        self.isClosed = true
        for waiting in self.waiting { waiting.answer.resume(throwing: self.closed) }
        self.waiting.removeAll()
    }

    private func handleBatch() async {
        let batch = Array(self.waiting.prefix(self.maximumBatch))
        self.waiting.removeFirst(batch.count)
        do {
            let answers = try await self.handle(batch.map(\.item))
            for (waiting, answer) in zip(batch, answers) { waiting.answer.resume(returning: answer) }
        } catch {
            await self.handleOneByOne(batch)
        }
    }

    private func handleOneByOne(_ batch: [Waiting]) async {
        for waiting in batch {
            do {
                waiting.answer.resume(returning: try await self.handle([waiting.item])[0])
            } catch {
                waiting.answer.resume(throwing: error)
            }
        }
    }
}
