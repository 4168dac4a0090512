import EventLoops
import Primitives

/// One live stream: what it has to do next, and a way to wait for that.
///
/// There is no queue: a stream that is told of news reads them itself, from where it stands.
final class StreamConnection: Sendable {
    /// What a stream has to do.
    struct Tasks: OptionSet, Sendable {
        let rawValue: UInt8

        /// The inbox has changed.
        static let news = Tasks(rawValue: 1)
        /// Nothing was sent for a while.
        static let heartbeat = Tasks(rawValue: 2)
        /// Send nothing more than when to come back.
        static let end = Tasks(rawValue: 4)
    }

    private struct State {
        var times: StreamTimes
        var tasks: Tasks = []
        var known: InboxState?
        var waiter: CheckedContinuation<Void, Never>?
    }

    let id: UInt64
    let listener: StreamListener
    private let state: Locked<State>
    private let disconnect: @Sendable () -> Void

    init(
        _ id: UInt64,
        _ listener: StreamListener,
        _ limits: StreamTimes.Limits,
        disconnect: @escaping @Sendable () -> Void
    ) {
        self.id = id
        self.listener = listener
        self.disconnect = disconnect
        self.state = Locked(State(times: StreamTimes(limits, now: .now)))
    }

    /// Whose inbox it tells of.
    var user: UserID { self.listener.user }

    // MARK: For the stream

    /// Waits until there is something to do, and takes it.
    ///
    /// Ends early when the task is cancelled, with the task to end.
    func next() async -> Tasks {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = self.state.withLock { state in
                    if !state.tasks.isEmpty { return true }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            self.add(.end)
        }
        return self.state.withLock { state in
            defer { state.tasks = [] }
            return state.tasks
        }
    }

    /// The inbox as it was seen last; nil before the first look.
    var known: InboxState? { self.state.withLock { $0.known } }

    /// A write begins: its time counts against the reader.
    func beginWrite() { self.state.withLock { $0.times.begin(at: .now) } }

    /// The reader's side has taken what was written.
    func endWrite() { self.state.withLock { $0.times.end(at: .now) } }

    /// Ends it soon.
    func end() { self.add(.end) }

    // MARK: For the hub

    /// Looks at the clock.
    ///
    /// - Returns: False when the stream was given up.
    func tick(at now: ContinuousClock.Instant) -> Bool {
        switch self.state.withLock({ $0.times.due(at: now) }) {
        case .nothing: return true
        case .heartbeat:
            self.add(.heartbeat)
            return true
        case .end:
            self.add(.end)
            return true
        case .abandon:
            self.disconnect()
            self.add(.end)
            return false
        }
    }

    /// Tells how the inbox stands now.
    func learn(_ inbox: InboxState) {
        let isNew = self.state.withLock { state in
            guard state.known != inbox else { return false }
            state.known = inbox
            return true
        }
        if isNew { self.add(.news) }
    }

    private func add(_ task: Tasks) {
        let waiter = self.state.withLock { state in
            state.tasks.insert(task)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
