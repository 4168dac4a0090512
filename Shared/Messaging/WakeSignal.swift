import EventLoops

/// Lets loops sleep until there is something to do.
///
/// A wake that comes while nobody waits is remembered: the next wait returns at once.
final class WakeSignal: Sendable {
    private struct State {
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var generation: UInt64 = 0
        var nextWaiter: UInt64 = 0
    }

    private let state = Locked(State())

    /// Counts wakes; a loop passes on the one it saw last.
    var generation: UInt64 { self.state.withLock { $0.generation } }

    func wake() {
        let waiters = self.state.withLock { state in
            state.generation += 1
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when a wake came after `seen`, after `limit`, or on cancellation.
    func wait(after seen: UInt64, upTo limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(after: seen) }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(after seen: UInt64) async {
        let id = self.state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = self.state.withLock { state in
                    if state.generation != seen || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume()
        }
    }
}
