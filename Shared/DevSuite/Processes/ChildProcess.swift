import EventLoops
import Foundation
import Glibc

/// A process that ends with whoever started it: it is waited for.
///
/// It inherits no descriptors, leads its own process group and writes to a log file. One that outlives whoever started
/// it is a `ProcessRecord`.
public final class ChildProcess: Sendable {
    private struct State {
        var exit: ChildExit?
        var waiters: [CheckedContinuation<ChildExit, Never>] = []
    }

    /// Its process id; also the id of its process group.
    public let pid: Int32
    /// Where its output goes, stdout and stderr together.
    public let logPath: String
    private let state = Locked(State())

    /// Starts a program.
    public init(_ launch: Launch, log: String) throws(SuiteError) {
        self.logPath = log
        self.pid = try launch.start(log: log, leading: .group)
        SideThread.start { [self] in self.awaitEnd() }
    }

    /// Sends a signal to the process group; nothing happens when it has ended.
    public func signal(_ number: CInt) {
        self.state.withLock { state in
            // Under the lock in which it is collected, so the number cannot belong to somebody else by now.
            if state.exit == nil {
                Glibc.kill(-self.pid, number)
            }
        }
    }

    /// kill -9, and waits for the end.
    @discardableResult
    public func kill() async -> ChildExit {
        self.signal(SIGKILL)
        return await self.exit()
    }

    /// SIGTERM, and SIGKILL when it has not ended in time.
    @discardableResult
    public func terminate(within limit: Duration = .seconds(20)) async -> ChildExit {
        self.signal(SIGTERM)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                self.signal(SIGKILL)
            }
            _ = await self.exit()
            group.cancelAll()
        }
        return await self.exit()
    }

    /// Waits for the end.
    public func exit() async -> ChildExit {
        await withCheckedContinuation { continuation in
            let known = self.state.withLock { state -> ChildExit? in
                if state.exit == nil {
                    state.waiters.append(continuation)
                }
                return state.exit
            }
            if let known {
                continuation.resume(returning: known)
            }
        }
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool {
        self.state.withLock { $0.exit == nil }
    }

    /// Everything it has written so far.
    public var log: String {
        String(decoding: FileManager.default.contents(atPath: self.logPath) ?? Data(), as: UTF8.self)
    }

    private func awaitEnd() {
        var information = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(self.pid), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        let (waiters, exit) = self.state.withLock { state in
            var status: CInt = 0
            unsafe waitpid(self.pid, &status, 0)
            let exit = ChildExit(status: status)
            state.exit = exit
            defer { state.waiters = [] }
            return (state.waiters, exit)
        }
        for waiter in waiters {
            waiter.resume(returning: exit)
        }
    }
}

/// How a process ended.
public enum ChildExit: Sendable, Equatable {
    /// By itself, with this code.
    case code(Int32)
    /// By this signal.
    case signal(Int32)

    init(status: CInt) {
        let signal = status & 0x7f
        self = signal == 0 ? .code((status >> 8) & 0xff) : .signal(signal)
    }
}
