import Glibc

/// Runs blocking C calls where they stop neither an event loop nor Swift's thread pool.
public enum SideThread {
    private final class Call: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own and suspends until it is done.
    ///
    /// Cancellation does not shorten it: the call must have a time limit of its own.
    public static func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withHandover { handover in
            self.start { handover.give(body()) }
        }
    }

    /// Runs `body` on a thread of its own and does not wait for it.
    public static func start(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { raw in
                guard let raw else { return nil }
                Unmanaged<Call>.fromOpaque(raw).takeRetainedValue().body()
                return nil
            },
            Unmanaged.passRetained(Call(body)).toOpaque()
        )
        precondition(status == 0, "pthread_create failed with \(status)")
        pthread_detach(thread)
    }
}
