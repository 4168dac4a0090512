import EventLoops
import Foundation
import Glibc

/// A started executable.
///
/// It inherits no descriptors, leads its own process group and writes to a log file.
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

    /// Starts an executable with exactly these variables; only PATH and HOME are added.
    public init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        log: String? = nil
    ) throws {
        let name = URL(fileURLWithPath: executable).lastPathComponent
        self.logPath = log ?? "\(Scratch.directory)/\(name)-\(Scratch.shortName()).log"
        self.pid = try spawn([executable] + arguments, Self.complete(environment, name), self.logPath)
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
        var information = siginfo_t()
        while waitid(P_PID, id_t(self.pid), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
        let (waiters, exit) = self.state.withLock { state in
            var status: CInt = 0
            waitpid(self.pid, &status, 0)
            let exit = ChildExit(status: status)
            state.exit = exit
            defer { state.waiters = [] }
            return (state.waiters, exit)
        }
        for waiter in waiters {
            waiter.resume(returning: exit)
        }
    }

    private static func complete(_ environment: [String: String], _ name: String) -> [String: String] {
        let own = ProcessInfo.processInfo.environment
        var all = environment
        all["PATH"] = all["PATH"] ?? own["PATH"]
        all["HOME"] = all["HOME"] ?? own["HOME"]
        // In a coverage run every process needs a file of its own.
        if let folder = own["TRANSFA_TEST_PROFILES"] {
            all["LLVM_PROFILE_FILE"] = "\(folder)/\(name)-%p.profraw"
        }
        return all
    }
}

/// How a process ended.
public enum ChildExit: Sendable, Equatable {
    case code(Int32)
    case signal(Int32)

    init(status: CInt) {
        let signal = status & 0x7f
        self = signal == 0 ? .code((status >> 8) & 0xff) : .signal(signal)
    }
}

/// Nothing that this process has open is meant for a child.
private func closeDescriptorsOnExec() {
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    for descriptor in open.compactMap({ CInt($0) }) where descriptor > 2 {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
}

private func spawn(_ words: [String], _ environment: [String: String], _ log: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
    }
    closeDescriptorsOnExec()
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // The runtime of the tests blocks and ignores signals that a service must see.
    var nothing = sigset_t()
    var everything = sigset_t()
    sigemptyset(&nothing)
    sigfillset(&everything)
    posix_spawnattr_setsigmask(&attributes, &nothing)
    posix_spawnattr_setsigdefault(&attributes, &everything)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    posix_spawnattr_setflags(&attributes, CShort(flags))

    var arguments = words.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer {
        for text in arguments + variables {
            free(text)
        }
    }
    var pid: pid_t = 0
    let status = posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &variables)
    guard status == 0 else {
        throw TestFailure("\(words[0]) could not be started: \(String(cString: strerror(status)))")
    }
    return pid
}
