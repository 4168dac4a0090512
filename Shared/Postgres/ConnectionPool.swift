import EventLoops

/// Hands out connections: free ones at once, else to whoever has waited longest.
///
/// Leased connections leave the pool until they come back; shared ones stay and everybody gets the least busy one.
final class ConnectionPool: Sendable {
    enum Sharing {
        case leased
        case shared
    }

    private struct Waiter {
        let number: UInt64
        let caller: Handover<Result<Wire, PostgresError>>
    }

    private struct State {
        var free: [Wire] = []
        var leased = 0
        var waiters = Queue<Waiter>()
        var nextNumber: UInt64 = 0
        var gone: Set<UInt64> = []
        var isClosed = false
        var lastFailure: PostgresError?
    }

    private enum Step {
        case wire(Wire)
        case refused(PostgresError)
        case wait(UInt64)
    }

    private let state = Locked(State())
    private let sharing: Sharing
    private let timeout: Duration
    private let maximumWaiters: Int
    private let loop: EventLoopThread

    init(_ sharing: Sharing, configuration: PostgresConfiguration, loop: EventLoopThread) {
        self.sharing = sharing
        self.timeout = configuration.leaseTimeout
        self.maximumWaiters = configuration.maximumWaiters
        self.loop = loop
    }

    // MARK: Taking and giving back

    /// A connection, waited for no longer than the lease timeout.
    func take() async throws(PostgresError) -> Wire {
        let step = self.state.withLock { state in self.firstStep(&state) }
        switch step {
        case .wire(let wire): return wire
        case .refused(let error): throw error
        case .wait(let number): return try await self.wait(number).get()
        }
    }

    private func firstStep(_ state: inout State) -> Step {
        if state.isClosed { return .refused(PostgresError(.closed, "the client has been shut down")) }
        if let wire = self.pick(&state) { return .wire(wire) }
        guard state.waiters.count < self.maximumWaiters else {
            return .refused(PostgresError(.overloaded, "too many callers wait for a connection"))
        }
        state.nextNumber += 1
        return .wait(state.nextNumber)
    }

    private func pick(_ state: inout State) -> Wire? {
        switch self.sharing {
        case .shared:
            if state.free.count == 1 { return state.free[0].isOpen ? state.free[0] : nil }
            return state.free.filter(\.isOpen).min { $0.load < $1.load }
        case .leased:
            while let wire = state.free.popLast() {
                guard wire.isOpen else { continue }
                state.leased += 1
                return wire
            }
            return nil
        }
    }

    private func wait(_ number: UInt64) async -> Result<Wire, PostgresError> {
        await withTaskCancellationHandler {
            await withHandover { caller in
                let step = self.state.withLock { state in
                    let isGone = state.gone.remove(number) != nil
                    if isGone { return Step.refused(PostgresError(.cancelled, "the task was cancelled")) }
                    // Things may have changed since the first look.
                    let step = self.firstStep(&state)
                    guard case .wait = step else { return step }
                    state.waiters.append(Waiter(number: number, caller: caller))
                    return step
                }
                switch step {
                case .wire(let wire): caller.give(.success(wire))
                case .refused(let error): caller.give(.failure(error))
                case .wait: self.startTimer(number)
                }
            }
        } onCancel: {
            let waiter = self.state.withLock { state in
                let waiter = self.remove(number, &state)
                if waiter == nil { state.gone.insert(number) }
                return waiter
            }
            waiter?.caller.give(.failure(PostgresError(.cancelled, "the task was cancelled")))
        }
    }

    private func startTimer(_ number: UInt64) {
        self.loop.submit {
            self.loop.schedule(after: self.timeout) { self.expire(number) }
        }
    }

    private func expire(_ number: UInt64) {
        let (waiter, failure) = self.state.withLock { ($0.isClosed ? nil : self.remove(number, &$0), $0.lastFailure) }
        guard let waiter else { return }
        let reason = failure.map { "; last failure: \($0.message)" } ?? ""
        waiter.caller.give(
            .failure(PostgresError(.leaseTimeout, "no connection became free in \(self.timeout)\(reason)"))
        )
    }

    private func remove(_ number: UInt64, _ state: inout State) -> Waiter? {
        let waiter = state.waiters.elements.first { $0.number == number }
        if waiter != nil { state.waiters.removeAll { $0.number == number } }
        return waiter
    }

    /// Takes a leased connection back.
    func giveBack(_ wire: Wire) {
        let isClosed = self.state.withLock { state in
            state.leased -= 1
            return state.isClosed
        }
        if isClosed { return wire.close() }
        if wire.isOpen { self.offer(wire) }
    }

    // MARK: Connections coming and going

    /// A connection has become free.
    func offer(_ wire: Wire) {
        enum Hand {
            case nobody
            case close
            case to([Waiter])
        }
        let hand = self.state.withLock { state -> Hand in
            if state.isClosed { return .close }
            state.lastFailure = nil
            guard let first = state.waiters.first else {
                state.free.append(wire)
                return .nobody
            }
            if self.sharing == .leased {
                state.waiters.removeFirst()
                state.leased += 1
                return .to([first])
            }
            state.free.append(wire)
            defer { state.waiters = Queue() }
            return .to(Array(state.waiters.elements))
        }
        switch hand {
        case .nobody: break
        case .close: wire.close()
        case .to(let waiters):
            for waiter in waiters { waiter.caller.give(.success(wire)) }
        }
    }

    /// A connection has ended.
    func forget(_ wire: Wire, _ failure: PostgresError?) {
        self.state.withLock { state in
            state.free.removeAll { $0 === wire }
            state.lastFailure = failure ?? state.lastFailure
        }
    }

    /// A connection could not be made.
    func note(_ failure: PostgresError) {
        self.state.withLock { $0.lastFailure = failure }
    }

    /// Refuses everybody from now on and ends the free connections; leased ones end when they come back.
    func close() {
        let (wires, waiters) = self.state.withLock { state in
            state.isClosed = true
            defer {
                state.free = []
                state.waiters = Queue()
            }
            return (state.free, Array(state.waiters.elements))
        }
        for waiter in waiters {
            waiter.caller.give(.failure(PostgresError(.closed, "the client is shutting down")))
        }
        for wire in wires { wire.close() }
    }

    /// How its connections are used.
    var use: PoolUse {
        self.state.withLock { PoolUse(idle: $0.free.count, used: $0.leased, waiting: $0.waiters.count) }
    }

    /// Whether a connection exists.
    var isConnected: Bool {
        self.state.withLock { $0.leased > 0 || $0.free.contains(where: \.isOpen) }
    }
}
