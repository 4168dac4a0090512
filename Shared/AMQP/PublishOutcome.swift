/// What became of one published message.
public enum PublishOutcome: Sendable {
    /// The broker has it.
    case confirmed
    /// The broker has no queue for it and dropped it.
    case returned(code: UInt16, text: String)
    /// The broker refused it (`basic.nack`), for example because a queue is full.
    case rejected
    /// Not known: the connection or the channel ended, or the deadline passed, before the confirm. Publish it again;
    /// consumers see it once or more.
    case lost(AMQPError)

    /// Whether the broker has the message.
    public var isConfirmed: Bool {
        guard case .confirmed = self else { return false }
        return true
    }

    /// Whether the broker refused the message.
    public var isRejected: Bool {
        guard case .rejected = self else { return false }
        return true
    }
}
