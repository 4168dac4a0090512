/// One call of `publish`: its messages, the answers so far, and the caller that waits.
///
/// Sendable: made and touched only by the publisher's session, on its thread; timers carry it there and back.
final class PublishRequest: @unchecked Sendable {
    let messages: [AMQPMessage]
    /// Whether nothing may be sent behind a message that failed.
    let stopsAtFailure: Bool
    /// The first message that has not been handed to the socket.
    var nextIndex = 0
    /// Runs once, when the caller is answered.
    var onFinish: (() -> Void)?
    private var outcomes: [PublishOutcome?]
    private var openCount: Int
    private var caller: CheckedContinuation<[PublishOutcome], Never>?

    init(
        _ messages: [AMQPMessage],
        stopsAtFailure: Bool,
        _ caller: CheckedContinuation<[PublishOutcome], Never>
    ) {
        self.stopsAtFailure = stopsAtFailure
        self.messages = messages
        self.outcomes = Array(repeating: nil, count: messages.count)
        self.openCount = messages.count
        self.caller = caller
    }

    /// Whether the caller has been answered.
    var isFinished: Bool { self.caller == nil }

    /// How many messages have not been handed to the socket.
    var unsentCount: Int { self.isFinished ? 0 : self.messages.count - self.nextIndex }

    /// Notes an answer; the last one resumes the caller.
    ///
    /// An answer after `abandon` is ignored.
    func answer(_ index: Int, _ outcome: PublishOutcome) {
        guard self.caller != nil, self.outcomes[index] == nil else { return }
        self.outcomes[index] = outcome
        self.openCount -= 1
        if self.openCount == 0 { self.finish(filling: outcome) }
    }

    /// Answers the caller now; what is open is lost.
    func abandon(_ error: AMQPError) { self.finish(filling: .lost(error)) }

    private func finish(filling outcome: PublishOutcome) {
        guard let caller = self.caller else { return }
        self.caller = nil
        self.onFinish?()
        self.onFinish = nil
        caller.resume(returning: self.outcomes.map { $0 ?? outcome })
    }
}
