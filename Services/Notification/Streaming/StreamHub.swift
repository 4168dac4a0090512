import EventLoops
import Logging
import Messaging
import Primitives
import ServiceLifecycle

/// The live streams of this process.
///
/// One loop looks after all of them: soon after something was committed here, and once a second for what other replicas
/// commit, it asks one question about the inboxes of all who listen, and wakes those whose inbox has changed. A stream
/// that is idle asks nothing.
///
/// A stream ends with the token that opened it, and within two looks of the end of its session or the closing of its
/// person's profile. The client comes back where it stopped, with what token it has.
final class StreamHub: Service {
    /// How many streams there may be, and how they keep time.
    struct Limits: Sendable {
        /// Of one person; one more ends the oldest, which may be a phone that went away unnoticed.
        var perPerson = 5
        /// Of all people.
        var perProcess = 1000
        var times = StreamTimes.Limits()
        /// How often it looks when nothing is committed here.
        var poll = Duration.seconds(1)
        /// The shortest time between two looks.
        var pause = Duration.milliseconds(100)
    }

    private struct State {
        /// By age: ids count up.
        var streams: [UInt64: StreamConnection] = [:]
        var byPerson: [UserID: [UInt64]] = [:]
        var nextID: UInt64 = 0
    }

    private let limits: Limits
    private let database: EventDatabase
    private let store: StreamStore
    private let logger: Logger
    private let state = Locked(State())

    /// Creates a hub; nobody is told anything before `run()`.
    init(limits: Limits = Limits(), database: EventDatabase, store: StreamStore, logger: Logger) {
        self.limits = limits
        self.database = database
        self.store = store
        self.logger = logger
    }

    /// How many streams are open.
    var count: Int { self.state.withLock { $0.streams.count } }

    /// Whether a stream is still open.
    func listens(_ stream: StreamConnection) -> Bool { self.state.withLock { $0.streams[stream.id] != nil } }

    // MARK: Streams

    /// Makes room for a stream of at most `lifetime`; give it back with `close`.
    ///
    /// - Throws: `NotificationError.tooManyStreams`.
    func open(
        _ user: UserID,
        session: String = "",
        for lifetime: Duration? = nil,
        disconnect: @escaping @Sendable () -> Void
    ) throws(NotificationError) -> StreamConnection {
        var limits = self.limits
        if let lifetime { limits.times.lifetime = min(lifetime, limits.times.lifetime) }
        let listener = StreamListener(user: user, session: session)
        return try self.open(listener, limits, disconnect)
    }

    private func open(
        _ listener: StreamListener,
        _ limits: Limits,
        _ disconnect: @escaping @Sendable () -> Void
    ) throws(NotificationError) -> StreamConnection {
        let user = listener.user
        let (stream, oldest) = self.state.withLock { state -> (StreamConnection?, StreamConnection?) in
            guard state.streams.count < limits.perProcess else { return (nil, nil) }
            state.nextID += 1
            let stream = StreamConnection(state.nextID, listener, limits.times, disconnect: disconnect)
            state.streams[stream.id] = stream
            state.byPerson[user, default: []].append(stream.id)
            let own = state.byPerson[user] ?? []
            return (stream, own.count > limits.perPerson ? own.first.flatMap { state.streams[$0] } : nil)
        }
        guard let stream else { throw .tooManyStreams }
        if let oldest {
            oldest.end()
            self.close(oldest)
        }
        return stream
    }

    /// Forgets a stream.
    func close(_ stream: StreamConnection) {
        self.state.withLock { state in
            guard state.streams.removeValue(forKey: stream.id) != nil else { return }
            let left = state.byPerson[stream.user]?.filter { $0 != stream.id } ?? []
            state.byPerson[stream.user] = left.isEmpty ? nil : left
        }
    }

    private var streams: [StreamConnection] { self.state.withLock { Array($0.streams.values) } }

    // MARK: The loop

    /// Looks until the service shuts down, then ends all streams.
    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let seen = self.database.commits
                await self.look()
                try? await Task.sleep(for: self.limits.pause)
                await self.database.waitForCommit(after: seen, upTo: self.limits.poll)
            }
        }
        for stream in self.streams { stream.end() }
    }

    private func look() async {
        let now = ContinuousClock.now
        let streams = self.streams
        for stream in streams where !stream.tick(at: now) { self.close(stream) }
        guard !streams.isEmpty else { return }
        do {
            let inboxes = try await self.store.states(of: Set(streams.map(\.listener)), on: self.database)
            for stream in streams {
                guard let inbox = inboxes[stream.listener] else {
                    stream.end()
                    continue
                }
                stream.learn(inbox)
            }
        } catch {
            // The streams wait, and learn it at the next look.
            self.logger.warning("inboxes not read", metadata: ["streams": "\(streams.count)"])
        }
    }
}
