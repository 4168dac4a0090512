import AnchorClient
import DequeModule
import Messaging
import ServiceLifecycle

/// Takes webhooks one batch after the other: whatever has gathered while the last batch was in the database goes next.
///
/// A webhook that comes alone is a batch of its own and waits for nothing; a thousand transfers that end at once cost
/// few transactions. Each is answered when its own row is committed.
actor WebhookLane {
    private struct Waiting {
        let arrival: TakeWebhook.Arrival
        let answer: CheckedContinuation<Bool, any Error>
    }

    private let takeWebhook: TakeWebhook
    private var waiting = Deque<Waiting>()
    private var isClosed = false
    private let doorbell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    private static let maximumBatch = 64
    /// More would only wait longer than the provider does.
    private static let capacity = 4096

    init(takeWebhook: TakeWebhook) {
        self.takeWebhook = takeWebhook
        (self.doorbell, self.ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes an event; true when it was new.
    ///
    /// - Throws: `NotificationError.tooManyWebhooks`; what the database throws.
    func take(_ event: WebhookEvent, cause: Cause) async throws -> Bool {
        guard TakeWebhook.isPlain(event) else { return try await self.takeWebhook(event, cause: cause) }
        guard !self.isClosed, self.waiting.count < Self.capacity else { throw NotificationError.tooManyWebhooks }
        return try await withCheckedThrowingContinuation { continuation in
            let arrival = TakeWebhook.Arrival(event: event, cause: cause)
            self.waiting.append(Waiting(arrival: arrival, answer: continuation))
            self.ring.yield()
        }
    }

    /// Works until cancelled; webhooks that still wait then are refused, and the provider sends them again.
    func work() async {
        for await _ in self.doorbell {
            while !self.waiting.isEmpty { await self.takeBatch() }
        }
        self.isClosed = true
        for waiting in self.waiting { waiting.answer.resume(throwing: NotificationError.tooManyWebhooks) }
        self.waiting.removeAll()
    }

    private func takeBatch() async {
        let batch = Array(self.waiting.prefix(Self.maximumBatch))
        self.waiting.removeFirst(batch.count)
        do {
            let answers = try await self.takeWebhook.all(batch.map(\.arrival))
            for (waiting, isNew) in zip(batch, answers) { waiting.answer.resume(returning: isNew) }
        } catch {
            await self.takeOneByOne(batch)
        }
    }

    /// A batch that failed as a whole: each gets a try of its own, so that one cannot spoil the others.
    private func takeOneByOne(_ batch: [Waiting]) async {
        for waiting in batch {
            do {
                waiting.answer.resume(returning: try await self.takeWebhook.all([waiting.arrival])[0])
            } catch {
                waiting.answer.resume(throwing: error)
            }
        }
    }
}

extension WebhookLane: Service {
    /// Runs until told to stop, which happens when the public server has answered its last request.
    func run() async {
        await cancelWhenGracefulShutdown { await self.work() }
    }
}
