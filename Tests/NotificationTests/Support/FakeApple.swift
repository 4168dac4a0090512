import EventLoops

@testable import NotificationService

/// Apple in memory: keeps what was sent and answers as it was told to.
final class FakeApple: PushSender {
    private let sent = Locked<[PushMessage]>([])
    private let answers = Locked<[PushOutcome]>([])

    /// What was sent, in order.
    var messages: [PushMessage] { self.sent.withLock { $0 } }

    /// The next answers; after them everything is taken.
    func answer(_ outcomes: PushOutcome...) { self.answers.withLock { $0 += outcomes } }

    func send(_ message: PushMessage) async -> PushOutcome {
        self.sent.withLock { $0.append(message) }
        return self.answers.withLock { $0.isEmpty ? .taken : $0.removeFirst() }
    }
}
