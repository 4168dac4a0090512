import CLinux
import Glibc
import Synchronization

private let eventCapacity = 64
/// Milliseconds between two looks at whether a stopping loop is still referred to.
private let stoppingPoll: CInt = 20
/// How often in a row new work goes before descriptors that may be ready.
private let workRounds = 16

/// One OS thread that runs actor jobs, watches file descriptors and fires timers.
///
/// An actor whose `unownedExecutor` is this object owns a C connection handle: every call into the C library, and
/// every readiness callback, happens on this thread. That is what makes the handles safe, none of the three libraries
/// locks anything.
///
/// - Important: Somebody must call `stop()`, the thread holds its loop until then. It may be called early: the thread
///   ends only when nobody else refers to the loop, so an actor that holds its loop never has a job that does not run.
public final class EventLoopThread: SerialExecutor {
    /// What a descriptor is watched for, and what it turned out to be ready for.
    public struct Interest: OptionSet, Sendable {
        /// The `epoll` bits.
        public let rawValue: UInt32

        /// Makes an interest from `epoll` bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// Bytes, an end of file or an error can be read.
        public static let read = Interest(rawValue: 1)
        /// Bytes can be written, or a connect has finished.
        public static let write = Interest(rawValue: 4)
    }

    /// Called on the loop thread when the descriptor is ready.
    public typealias Watcher = (Interest) -> Void

    private enum Work {
        case job(UnownedJob)
        case body(@Sendable () -> Void)
    }

    private struct Inbox {
        var work: [Work] = []
        var isStopping = false
        /// The thread is, or is about to be, inside an `epoll_wait` that only the event descriptor can end.
        var isAsleep = false

        /// Whether the thread must be woken; says so once per sleep.
        mutating func wake() -> Bool {
            defer { self.isAsleep = false }
            return self.isAsleep
        }
    }

    private struct Watch {
        var interest: Interest
        var watcher: Watcher
    }

    private let name: String
    private let epoll: CInt
    private let wake: CInt
    private let inbox = Locked(Inbox())
    private let threadID = Atomic<UInt>(0)
    // Proof for the three below: touched only on the loop thread, every access goes through `checkIsolated`.
    nonisolated(unsafe) private var watches: [CInt: Watch] = [:]
    nonisolated(unsafe) private var timers = TimerQueue()
    nonisolated(unsafe) private var batch: [Work] = []
    // Written by `epoll_wait` and read right after it, both on the loop thread.
    nonisolated(unsafe) private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventCapacity)

    /// Starts the thread.
    ///
    /// - Parameter name: What `ps` and debuggers show; Linux keeps the first 15 bytes.
    public init(name: String) {
        self.name = name
        self.epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        self.wake = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
        precondition(self.epoll >= 0 && self.wake >= 0, "no file descriptor left for an event loop: errno \(errno)")
        // Edge-triggered: each write is one event and the counter is never read.
        self.control(EPOLL_CTL_ADD, self.wake, Interest(rawValue: EPOLLIN.rawValue | EPOLLET.rawValue))
        self.start()
    }

    deinit {
        self.events.deallocate()
        close(self.epoll)
        close(self.wake)
    }

    private func start() {
        signal(SIGPIPE, SIG_IGN)
        var thread = pthread_t()
        // The thread holds the loop until it returns from `run`.
        let context = Unmanaged.passRetained(self)
        let status = pthread_create(
            &thread,
            nil,
            { raw in
                guard let raw else { return nil }
                var loop = Unmanaged<EventLoopThread>.fromOpaque(raw).takeRetainedValue()
                _ = transfa_name_thread(loop.name)
                loop.threadID.store(UInt(pthread_self()), ordering: .releasing)
                EventLoopThread.run(&loop)
                return nil
            },
            context.toOpaque()
        )
        precondition(status == 0, "pthread_create failed with \(status)")
        pthread_detach(thread)
    }

    // MARK: Executor

    /// Hands a job to the thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        self.add(.job(UnownedJob(job)))
    }

    /// Runs `body` on the thread, after everything handed in before it.
    ///
    /// May be called from any thread.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        self.add(.body(body))
    }

    private func add(_ work: Work) {
        let mustWake = self.inbox.withLock { inbox in
            inbox.work.append(work)
            return inbox.wake()
        }
        if mustWake && !self.isOnThread { self.wakeUp() }
    }

    /// Stops the program when the caller is not on the loop thread.
    public func checkIsolated() {
        precondition(self.isOnThread, "not on the thread of event loop \(self.name)")
    }

    /// Whether the caller is on the loop thread.
    public func isIsolatingCurrentContext() -> Bool? { self.isOnThread }

    /// Ends the thread as soon as nobody else refers to the loop.
    ///
    /// May be called from any thread, and twice.
    public func stop() {
        let mustWake = self.inbox.withLock { inbox in
            inbox.isStopping = true
            return inbox.wake()
        }
        if mustWake { self.wakeUp() }
    }

    // MARK: Descriptors and timers, on the loop thread only

    /// Watches a descriptor, or changes what it is watched for.
    ///
    /// A call that changes nothing costs no system call.
    public func watch(_ descriptor: CInt, for interest: Interest, _ watcher: @escaping Watcher) {
        self.checkIsolated()
        let previous = self.watches.updateValue(Watch(interest: interest, watcher: watcher), forKey: descriptor)
        guard let previous else { return self.control(EPOLL_CTL_ADD, descriptor, interest) }
        if previous.interest != interest { self.control(EPOLL_CTL_MOD, descriptor, interest) }
    }

    /// Forgets a descriptor.
    ///
    /// Call it before the descriptor is closed.
    public func unwatch(_ descriptor: CInt) {
        self.checkIsolated()
        guard self.watches.removeValue(forKey: descriptor) != nil else { return }
        epoll_ctl(self.epoll, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Runs `body` on the loop thread after `delay`.
    @discardableResult
    public func schedule(after delay: Duration, _ body: @escaping () -> Void) -> TimerID {
        self.checkIsolated()
        return self.timers.add(deadline: .now + delay, body)
    }

    /// Forgets a timer; one that has fired already is ignored.
    public func cancel(_ timer: TimerID) {
        self.checkIsolated()
        self.timers.remove(timer)
    }

    // MARK: The loop

    private var isOnThread: Bool { UInt(pthread_self()) == self.threadID.load(ordering: .acquiring) }

    private func wakeUp() { eventfd_write(self.wake, 1) }

    private func control(_ operation: CInt, _ descriptor: CInt, _ interest: Interest) {
        var event = epoll_event(events: interest.rawValue, data: epoll_data(fd: descriptor))
        let status = epoll_ctl(self.epoll, operation, descriptor, &event)
        precondition(status == 0, "epoll_ctl failed with errno \(errno)")
    }

    /// Runs until `stop()` was called and the thread's own reference is the last one: whoever could hand in more work
    /// holds another.
    private static func run(_ loop: inout EventLoopThread) {
        while true {
            // Work that led to more work comes first, for a while: a look at the descriptors after each piece would be a
            // system call for nothing.
            var rounds = 0
            while loop.runWork(), rounds < workRounds { rounds += 1 }
            let (timeout, mayEnd) = loop.prepareToSleep()
            if mayEnd && isKnownUniquelyReferenced(&loop) { return }
            loop.poll(timeout: timeout)
        }
    }

    /// Runs what was handed in and the timers that are due; false when nothing was handed in.
    private func runWork() -> Bool {
        self.inbox.withLock { inbox in
            inbox.isAsleep = false
            swap(&inbox.work, &self.batch)
        }
        for work in self.batch {
            switch work {
            case .job(let job): job.runSynchronously(on: self.asUnownedSerialExecutor())
            case .body(let body): body()
            }
        }
        let hasWorked = !self.batch.isEmpty
        self.batch.removeAll(keepingCapacity: true)
        while let body = self.timers.popDue() { body() }
        return hasWorked
    }

    /// How long `epoll_wait` may sleep, 0 while there is work to do, and whether the thread is asked to end.
    private func prepareToSleep() -> (timeout: CInt, mayEnd: Bool) {
        let next = self.timers.millisecondsToNext()
        return self.inbox.withLock { inbox in
            if !inbox.work.isEmpty { return (0, false) }
            inbox.isAsleep = next != 0
            if !inbox.isStopping { return (next, false) }
            return (next < 0 ? stoppingPoll : min(next, stoppingPoll), true)
        }
    }

    private func poll(timeout: CInt) {
        let count = epoll_wait(self.epoll, self.events, CInt(eventCapacity), timeout)
        for index in 0..<max(0, Int(count)) { self.dispatch(self.events[index]) }
    }

    private func dispatch(_ event: epoll_event) {
        if event.data.fd == self.wake { return }
        var ready = Interest(rawValue: event.events).intersection([.read, .write])
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { ready = [.read, .write] }
        self.watches[event.data.fd]?.watcher(ready)
    }
}
