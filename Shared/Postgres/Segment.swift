import EventLoops
import Synchronization

/// Statements that go to the server together and end with one sync: without an explicit transaction around them they
/// are one transaction of their own.
///
/// Sendable: `caller` is written once before the segment is handed to its wire and taken once on the wire's
/// loop thread, like everything else that changes.
final class Segment: @unchecked Sendable {
    enum Kind {
        case pipelined([SQL])
        /// Any number of statements in one text, without binds; the connection leaves pipeline mode for it.
        case simple(String)
    }

    /// What became of a segment.
    struct Outcome: Sendable {
        /// One per statement that ran, in order.
        var results: [PostgresResult] = []
        var failure: PostgresError?
        /// Which statement failed; nil when it was none of them.
        var failedIndex: Int?
        /// The server is in no transaction block.
        var isIdle = true
    }

    let kind: Kind
    /// Told to stop on the server when its task is cancelled or its time is over; otherwise only not waited for.
    let isCancellable: Bool
    /// Set from any thread when the caller's task is cancelled.
    let isCancelled = Atomic<Bool>(false)
    var outcome = Outcome()
    private var caller: Handover<Outcome>?

    init(_ kind: Kind, isCancellable: Bool) {
        self.kind = kind
        self.isCancellable = isCancellable
    }

    var isSimple: Bool {
        if case .simple = self.kind { true } else { false }
    }

    func answer(to caller: Handover<Outcome>) {
        precondition(self.caller == nil, "a segment is run once")
        self.caller = caller
    }

    func fail(_ error: PostgresError, at index: Int? = nil) {
        guard self.outcome.failure == nil else { return }
        self.outcome.failure = error
        self.outcome.failedIndex = index
    }

    /// Answers the caller; does nothing when that has happened already.
    func finish() {
        guard let caller = self.caller.take() else { return }
        caller.give(self.outcome)
    }
}
