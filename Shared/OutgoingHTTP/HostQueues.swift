import DequeModule

/// Whose turn it is, for each host of its own: one that hangs holds up nobody but those who want it too.
struct HostQueues {
    private struct Queue {
        var active = 0
        var waiting = Deque<Transfer>()
    }

    private let callsAtOnce: Int
    private var queues: [String: Queue] = [:]

    init(callsAtOnce: Int) { self.callsAtOnce = callsAtOnce }

    /// Whether a call may begin now; otherwise `leave` gives it when it may.
    mutating func enter(_ transfer: Transfer) -> Bool {
        var queue = self.queues.removeValue(forKey: transfer.host) ?? Queue()
        defer { self.queues[transfer.host] = queue }
        guard queue.active < self.callsAtOnce else {
            queue.waiting.append(transfer)
            return false
        }
        queue.active += 1
        return true
    }

    /// Takes note of a call that has ended, and gives the one that has its turn.
    mutating func leave(_ host: String) -> Transfer? {
        guard var queue = self.queues.removeValue(forKey: host) else { return nil }
        while let next = queue.waiting.popFirst() {
            // Its time was over, or it was cancelled.
            if next.isFinished { continue }
            self.queues[host] = queue
            return next
        }
        queue.active -= 1
        if queue.active > 0 { self.queues[host] = queue }
        return nil
    }

    /// Everybody who waits.
    var waiting: [Transfer] { self.queues.values.flatMap(\.waiting) }
}
