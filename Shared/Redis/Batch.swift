import EventLoops

/// Commands that were sent together and are answered together.
///
/// Belongs to the loop thread.
final class Batch {
    enum Caller {
        case outside(Handover<Answer>)
        case handshake
    }

    let caller: Caller
    let deadline: ContinuousClock.Instant
    let commandCount: Int
    let byteCount: Int
    /// Whether the caller has been answered, with the replies or without them.
    private(set) var isSettled = false
    private var replies: [RedisValue] = []
    private(set) var failure: RedisError?
    private var outstanding: Int

    init(caller: Caller, deadline: ContinuousClock.Instant, commandCount: Int, byteCount: Int) {
        self.caller = caller
        self.deadline = deadline
        self.commandCount = commandCount
        self.byteCount = byteCount
        self.outstanding = commandCount
        self.replies.reserveCapacity(commandCount)
    }

    /// Whether Redis, or the end of the connection, has answered every command.
    var isComplete: Bool { self.outstanding == 0 }

    /// Takes the reply to the next command.
    ///
    /// A nil reply means that the connection died.
    func receive(_ reply: RedisValue?) {
        self.outstanding -= 1
        switch reply {
        case nil: self.failure = self.failure ?? RedisError(.lost, "the connection ended before the reply")
        case .error(let word)?:
            self.failure = self.failure ?? RedisError(reply: word)
        case let reply?: self.replies.append(reply)
        }
    }

    /// What to tell the caller, nil when it has been told already.
    func settle(with failure: RedisError? = nil) -> Answer? {
        guard !self.isSettled else { return nil }
        self.isSettled = true
        if let failure = failure ?? self.failure { return .failure(failure) }
        return .success(self.replies)
    }
}

/// First in, first out, without moving elements on every removal.
struct FIFO<Element> {
    private var storage: [Element?] = []
    private var head = 0

    var isEmpty: Bool { self.head == self.storage.count }

    var first: Element? { self.isEmpty ? nil : self.storage[self.head] }

    mutating func append(_ element: Element) { self.storage.append(element) }

    mutating func removeFirst() {
        self.storage[self.head] = nil
        self.head += 1
        if self.head == self.storage.count {
            self.storage.removeAll(keepingCapacity: true)
            self.head = 0
        } else if self.head > 1024, self.head * 2 > self.storage.count {
            self.storage.removeFirst(self.head)
            self.head = 0
        }
    }

    /// All that wait, the oldest first.
    var elements: some Sequence<Element> { self.storage[self.head...].lazy.compactMap { $0 } }
}
