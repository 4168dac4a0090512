import AMQP
import EventLoops
import Testing

/// Collects deliveries and lets a test wait for them.
final class Inbox: Sendable {
    private struct State {
        var deliveries: [AMQPDelivery] = []
        var batchSizes: [Int] = []
    }

    private let state = Locked(State())
    private let changes: AsyncStream<Void>
    private let changed: AsyncStream<Void>.Continuation

    init() { (self.changes, self.changed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    var deliveries: [AMQPDelivery] { self.state.withLock { $0.deliveries } }
    var batchSizes: [Int] { self.state.withLock { $0.batchSizes } }
    var texts: [String] { self.deliveries.map(\.text) }

    func add(_ deliveries: [AMQPDelivery]) {
        self.state.withLock {
            $0.deliveries += deliveries
            $0.batchSizes.append(deliveries.count)
        }
        self.changed.yield()
    }

    /// Waits until the deliveries so far are enough.
    ///
    /// One waiter at a time.
    func wait(
        within limit: Duration = .seconds(60),
        sourceLocation: SourceLocation = #_sourceLocation,
        until enough: @escaping @Sendable ([AMQPDelivery]) -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                while !enough(self.deliveries) {
                    var iterator = self.changes.makeAsyncIterator()
                    guard await iterator.next() != nil else { return false }
                }
                return true
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return false
            }
            let isEnough = try await group.next() ?? false
            group.cancelAll()
            if !isEnough {
                Issue.record("only \(self.deliveries.count) deliveries within \(limit)", sourceLocation: sourceLocation)
                throw Unavailable(description: "gave up waiting")
            }
        }
    }
}

extension AMQPDelivery {
    var text: String { String(decoding: self.body, as: UTF8.self) }
}
