import Synchronization

/// The pushes that arrived, newest last, bounded.
final class PushRecorder: Sendable {
    private struct Pushes: Sendable {
        var list: [JSON] = []
        var count: Int64 = 0
        var failures: [PushFailure] = []
    }

    private static let maximum = 10_000
    private let pushes = Mutex(Pushes())

    func record(_ push: [String: JSON]) {
        self.pushes.withLock { pushes in
            pushes.count += 1
            var push = push
            push["seq"] = .integer(pushes.count)
            pushes.list.append(.object(push))
            if pushes.list.count > Self.maximum { pushes.list.removeFirst(Self.maximum / 10) }
        }
    }

    func clear() {
        self.pushes.withLock { pushes in
            pushes.list.removeAll()
            pushes.failures.removeAll()
        }
    }

    /// Lets the next pushes fail.
    func fail(_ failure: PushFailure, times: Int) {
        self.pushes.withLock { $0.failures += Array(repeating: failure, count: min(times, Self.maximum)) }
    }

    /// How the next push fails, if it was told to.
    func nextFailure() -> PushFailure? {
        self.pushes.withLock { $0.failures.isEmpty ? nil : $0.failures.removeFirst() }
    }

    /// The pushes after a sequence number.
    func list(after: Int64, limit: Int) -> JSON {
        self.pushes.withLock { pushes in
            let found = pushes.list.drop { ($0["seq"]?.number ?? 0) <= after }.prefix(limit)
            return ["pushes": .array(Array(found)), "total": .integer(pushes.count)]
        }
    }
}
