import Foundation
import Glibc

/// The file in which a process is recorded that outlives who started it: its pid and the moment it started.
///
/// A pid that the kernel has given to somebody else since is not the recorded process, and is never signalled.
/// `scripts/lib/processes.sh` keeps its servers in the same form.
public struct ProcessRecord: Sendable {
    /// The path of the file.
    public let path: String

    /// A record at this path, whether it exists or not.
    public init(_ path: String) { self.path = path }

    /// Starts a process in a session of its own and records it.
    public func start(_ launch: Launch, log: String) throws(SuiteError) {
        let pid = try launch.start(log: log, leading: .session)
        // It cannot be gone: nobody has collected it.
        let text = "\(pid) \(Self.startTime(of: pid) ?? "0")\n"
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: self.path), options: .atomic)
        } catch {
            Glibc.kill(-pid, SIGKILL)
            throw SuiteError("\(self.path) could not be written, so \(launch.name) was not kept running.")
        }
    }

    /// The pid of the recorded process, when it still runs.
    public var runningPID: Int32? {
        guard let text = FileManager.default.contents(atPath: self.path).map({ String(decoding: $0, as: UTF8.self) })
        else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let pid = Int32(words[0]), pid > 1, Self.startTime(of: pid) == String(words[1])
        else { return nil }
        return pid
    }

    /// SIGTERM, and SIGKILL to all of its processes when it has not ended in time; then the record goes.
    public func stop(within limit: Duration) async {
        if let pid = self.runningPID {
            Glibc.kill(pid, SIGTERM)
            // A paused process would not hear it.
            Glibc.kill(-pid, SIGCONT)
            if await !self.awaitEnd(within: limit) {
                // Looked at again: the number may be somebody else's by now.
                if self.runningPID == pid { Glibc.kill(-pid, SIGKILL) }
                _ = await self.awaitEnd(within: .seconds(10))
            }
        }
        try? FileManager.default.removeItem(atPath: self.path)
    }

    private func awaitEnd(within limit: Duration) async -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + limit
        while self.runningPID != nil {
            guard clock.now < deadline, (try? await Task.sleep(for: .milliseconds(50))) != nil else { return false }
        }
        return true
    }

    /// When the kernel started a process, in its ticks since the boot; nil when there is none, or nobody but who has to
    /// collect it knows of it.
    static func startTime(of pid: Int32) -> String? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        // The name in parentheses may hold spaces and parentheses; what follows it starts with field 3.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 19, fields[0] != "Z" else { return nil }
        return String(fields[19])
    }
}
