import EventLoops

typealias Answer = Result<[RedisValue], RedisError>

/// Commands on their way from a caller to the loop thread.
struct Submission: Sendable {
    /// As they are sent, one after the other.
    let bytes: [UInt8]
    let commandCount: Int
    let deadline: ContinuousClock.Instant
    let caller: Handover<Answer>
}

/// What callers on any thread and the driver on the loop thread share: whether to send, and what waits to be sent.
///
/// A queue with a bell instead of calls into the actor: one hop to the loop and one back, and whatever has
/// gathered goes into one write.
final class Gate: Sendable {
    private struct State {
        /// Wakes the driver; there while it runs.
        var bell: (@Sendable () -> Void)?
        var isOpen = false
        var isStopping = false
        var queue: [Submission] = []
        var commandsInFlight = 0
        var bytesInFlight = 0
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter: UInt64 = 0

        mutating func takeWaiters() -> [CheckedContinuation<Bool, Never>] {
            defer { self.waiters = [:] }
            return Array(self.waiters.values)
        }
    }

    private let state = Locked(State())
    private let maximumInFlight: Int
    private let maximumBytesInFlight: Int

    init(_ configuration: RedisConfiguration) {
        self.maximumInFlight = configuration.maximumInFlight
        self.maximumBytesInFlight = configuration.maximumBytesInFlight
    }

    // MARK: Callers

    var isOpen: Bool { self.state.withLock { $0.isOpen } }

    var commandsInFlight: Int { self.state.withLock { $0.commandsInFlight } }

    /// Whether some of them are still to be handed to the driver.
    var hasQueue: Bool { self.state.withLock { !$0.queue.isEmpty } }

    /// Queues the commands, or answers at once when they cannot be sent.
    func submit(_ submission: Submission) {
        let count = submission.commandCount
        let byteCount = submission.bytes.count
        let (refusal, bell): (RedisError?, (@Sendable () -> Void)?) = self.state.withLock { state in
            guard state.isOpen else { return (RedisError(.unavailable, "not connected"), nil) }
            guard state.commandsInFlight + count <= self.maximumInFlight,
                state.bytesInFlight + byteCount <= self.maximumBytesInFlight
            else { return (RedisError(.busy, "too many commands in flight"), nil) }
            state.commandsInFlight += count
            state.bytesInFlight += byteCount
            state.queue.append(submission)
            return (nil, state.queue.count == 1 ? state.bell : nil)
        }
        if let refusal { submission.caller.give(.failure(refusal)) }
        bell?()
    }

    /// Waits until commands can be sent; false when the caller was cancelled or the client stopped.
    func waitUntilOpen() async -> Bool {
        let id = self.state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = self.state.withLock { state in
                    if state.isOpen { return true }
                    if state.isStopping || Task.isCancelled { return false }
                    state.waiters[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            self.state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
        }
    }

    // MARK: The end

    /// Tells the driver to stop; from any thread.
    func stop() {
        let (waiters, bell) = self.state.withLock { state in
            state.isStopping = true
            state.isOpen = false
            return (state.takeWaiters(), state.bell)
        }
        for waiter in waiters { waiter.resume(returning: false) }
        bell?()
    }

    var isStopping: Bool { self.state.withLock { $0.isStopping } }

    // MARK: The driver

    /// Says how to wake the driver, nil once it has ended.
    func setBell(_ bell: (@Sendable () -> Void)?) { self.state.withLock { $0.bell = bell } }

    /// What has gathered, in the order of arrival.
    func take() -> [Submission] {
        self.state.withLock { state in
            let queue = state.queue
            state.queue = []
            state.queue.reserveCapacity(queue.count)
            return queue
        }
    }

    func release(commands: Int, bytes: Int) {
        guard commands > 0 else { return }
        self.state.withLock { state in
            state.commandsInFlight -= commands
            state.bytesInFlight -= bytes
        }
    }

    func open() {
        let waiters: [CheckedContinuation<Bool, Never>] = self.state.withLock { state in
            guard !state.isStopping else { return [] }
            state.isOpen = true
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    func close() { self.state.withLock { $0.isOpen = false } }
}
