import EventLoops
import Glibc
import Synchronization

/// Knows since when the connection's thread has been inside a library call, so that another thread can end the call.
///
/// A publish blocks without end when the broker stops reading, and the library has no way to abort it. Shutting the
/// socket down makes the call fail.
final class CallGuard: Sendable {
    /// A duplicate of the library's descriptor, or -1.
    ///
    /// The library may close its own at any moment, and the number may then name somebody else's file; the duplicate is
    /// ours until we close it.
    private let descriptor = Locked<CInt>(-1)
    /// Nanoseconds of the continuous clock, 0 outside of calls.
    private let callBegan = Atomic<UInt64>(0)
    private let cutCount = Atomic<Int>(0)

    /// Whether the last connection was cut.
    var wasCut: Bool { self.cutCount.load(ordering: .acquiring) > 0 }

    /// Runs a call into the library.
    func call<Result>(_ body: () -> Result) -> Result {
        self.callBegan.store(Self.now(), ordering: .releasing)
        defer { self.callBegan.store(0, ordering: .releasing) }
        return body()
    }

    /// Duplicates the library's descriptor.
    ///
    /// - Returns: The duplicate, or -1 when there are no descriptors left.
    func open(_ libraryDescriptor: CInt) -> CInt {
        let duplicate = fcntl(libraryDescriptor, F_DUPFD_CLOEXEC, 0)
        self.cutCount.store(0, ordering: .releasing)
        self.descriptor.withLock { $0 = duplicate }
        return duplicate
    }

    /// Closes the duplicate.
    func close() {
        self.descriptor.withLock { descriptor in
            if descriptor >= 0 { Glibc.close(descriptor) }
            descriptor = -1
        }
    }

    /// Shuts the socket down if a call has been running for longer than `limit`.
    ///
    /// Called by the watchdog's thread.
    func check(limit: Duration) {
        let began = self.callBegan.load(ordering: .acquiring)
        guard began != 0, Self.now() &- began > UInt64(limit / .nanoseconds(1)) else { return }
        self.cut()
    }

    private func cut() {
        self.descriptor.withLock { descriptor in
            guard descriptor >= 0 else { return }
            self.cutCount.add(1, ordering: .releasing)
            shutdown(descriptor, CInt(SHUT_RDWR))
        }
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
