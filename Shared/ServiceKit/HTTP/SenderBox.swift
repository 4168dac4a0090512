import EventLoops

/// Remembers of one request whether it is known who sends it.
///
/// A class, for the edge looks at it after the router, whose middleware changes copies of the context.
final class SenderBox: Sendable {
    private let stored = Locked(false)

    var isKnown: Bool { self.stored.withLock { $0 } }

    func know() {
        self.stored.withLock { $0 = true }
    }
}
