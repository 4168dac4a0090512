import Foundation
import Glibc

extension Launch {
    /// What a started process leads.
    enum Leadership {
        /// A process group: it gets no signals of our terminal.
        case group
        /// A session: it outlives us and our terminal.
        case session

        /// glibc shows the second one to programs in GNU C alone.
        var flag: CInt { self == .group ? CInt(POSIX_SPAWN_SETPGROUP) : 0x80 }
    }

    /// Starts it with no descriptor of ours open but the log, to which stdout and stderr go.
    func start(log: String, leading leadership: Leadership) throws(SuiteError) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&actions)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        Self.closeDescriptorsOnExec()
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Our runtime blocks and ignores signals that a service must see.
        var nothing = sigset_t()
        var everything = sigset_t()
        unsafe sigemptyset(&nothing)
        unsafe sigfillset(&everything)
        unsafe posix_spawnattr_setsigmask(&attributes, &nothing)
        unsafe posix_spawnattr_setsigdefault(&attributes, &everything)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let flags = leadership.flag | CInt(POSIX_SPAWN_SETSIGMASK) | CInt(POSIX_SPAWN_SETSIGDEF)
        unsafe posix_spawnattr_setflags(&attributes, CShort(flags))

        let words = self.words
        // Safe: the texts live until the call has returned, and the kernel has copied them by then.
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe self.variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            // By numbers: an iterator over pointers has a spelling that swift-format does not know yet.
            let texts = unsafe arguments + variables
            for number in unsafe texts.indices { unsafe free(texts[number]) }
        }
        var pid: pid_t = 0
        let status = unsafe posix_spawn(&pid, words[0], &actions, &attributes, &arguments, &variables)
        guard status == 0 else {
            throw SuiteError("\(words[0]) could not be started: \(unsafe String(cString: strerror(status)))")
        }
        return pid
    }

    /// Nothing that this process has open is meant for a child.
    private static func closeDescriptorsOnExec() {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for descriptor in open.compactMap({ CInt($0) }) where descriptor > 2 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }
}
