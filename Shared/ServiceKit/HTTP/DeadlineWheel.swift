import EventLoops
public import ServiceLifecycle

/// Coarse deadlines for many requests at once: one ticking loop instead of one timer per request.
public final class DeadlineWheel: Service {
    private struct State {
        var waiting: [UInt64: Waiter] = [:]
        var nextID: UInt64 = 0
    }

    private struct Waiter {
        let deadline: ContinuousClock.Instant
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Locked(State())
    private let tick: Duration

    /// Creates a wheel; `run()` must be running for deadlines to pass.
    public init(tick: Duration = .milliseconds(50)) {
        self.tick = tick
    }

    /// Ticks until shutdown, then lets everyone go.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: self.tick)
                self.release { $0.deadline <= .now }
            }
        }
        self.release { _ in true }
    }

    /// Returns at the deadline, or as soon as the task is cancelled.
    func wait(until deadline: ContinuousClock.Instant) async {
        let id = self.state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.state.withLock { $0.waiting[id] = Waiter(deadline: deadline, continuation: continuation) }
                // Cancelled before it was registered: the handler below found nothing to resume.
                if Task.isCancelled {
                    self.resume(id)
                }
            }
        } onCancel: {
            self.resume(id)
        }
    }

    private func resume(_ id: UInt64) {
        let waiter = self.state.withLock { $0.waiting.removeValue(forKey: id) }
        waiter?.continuation.resume()
    }

    private func release(where isDue: (Waiter) -> Bool) {
        let due = self.state.withLock { state in
            let due = state.waiting.filter { isDue($0.value) }
            for id in due.keys {
                state.waiting.removeValue(forKey: id)
            }
            return due.values.map(\.continuation)
        }
        for continuation in due {
            continuation.resume()
        }
    }
}
