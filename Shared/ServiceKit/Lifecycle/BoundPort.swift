import EventLoops

/// The port a server really got; known once it listens.
public final class BoundPort: Sendable {
    private struct State {
        var port: Int?
        var waiting: [CheckedContinuation<Int, Never>] = []
    }

    private let state = Locked(State())

    /// Creates one that is not known yet.
    public init() {}

    /// The port; waits until the server listens.
    public var value: Int {
        get async {
            await withCheckedContinuation { continuation in
                let known = self.state.withLock { state -> Int? in
                    if state.port == nil {
                        state.waiting.append(continuation)
                    }
                    return state.port
                }
                if let known {
                    continuation.resume(returning: known)
                }
            }
        }
    }

    func announce(_ port: Int) {
        let waiting = self.state.withLock { state in
            state.port = port
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting {
            continuation.resume(returning: port)
        }
    }
}
