import DequeModule

/// Accepts payments one batch after the other: whatever has gathered while the last batch was in the database goes next.
///
/// At low load a payment is a batch of its own and waits for nothing; under load batches grow by themselves.
actor AcceptanceLane {
    private struct Waiting {
        let item: AcceptanceItem
        let answer: CheckedContinuation<AcceptanceAnswer, any Error>
    }

    private let store: AcceptanceStore
    private var waiting = Deque<Waiting>()
    private var isClosed = false
    private let doorbell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    /// Bigger batches collide more with those of other lanes and gain little.
    private static let maximumBatch = 64
    /// More would only wait longer than clients do.
    private static let capacity = 4096

    init(store: AcceptanceStore) {
        self.store = store
        (self.doorbell, self.ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Waits for the answer to one payment.
    ///
    /// - Throws: `AcceptanceOverload` when too many wait; what the database throws.
    func accept(_ item: AcceptanceItem) async throws -> AcceptanceAnswer {
        guard !self.isClosed else { throw CancellationError() }
        guard self.waiting.count < Self.capacity else { throw AcceptanceOverload() }
        return try await withCheckedThrowingContinuation { continuation in
            self.waiting.append(Waiting(item: item, answer: continuation))
            self.ring.yield()
        }
    }

    /// Works until cancelled; payments that still wait then are refused and can be repeated with their key.
    func run() async {
        for await _ in self.doorbell {
            while !self.waiting.isEmpty { await self.acceptBatch() }
        }
        self.isClosed = true
        for waiting in self.waiting { waiting.answer.resume(throwing: CancellationError()) }
        self.waiting.removeAll()
    }

    private func acceptBatch() async {
        let batch = Array(self.waiting.prefix(Self.maximumBatch))
        self.waiting.removeFirst(batch.count)
        do {
            let answers = try await self.store.accept(batch.map(\.item))
            for (waiting, answer) in zip(batch, answers) { waiting.answer.resume(returning: answer) }
        } catch {
            await self.acceptOneByOne(batch)
        }
    }

    /// A batch that failed as a whole: each payment gets a try of its own, so that one cannot spoil the others, and one
    /// whose answer was lost finds it under its key.
    private func acceptOneByOne(_ batch: [Waiting]) async {
        for waiting in batch {
            do {
                let answers = try await self.store.accept([waiting.item])
                waiting.answer.resume(returning: answers[0])
            } catch {
                waiting.answer.resume(throwing: error)
            }
        }
    }
}

/// Too many payments wait already.
struct AcceptanceOverload: Error {}
