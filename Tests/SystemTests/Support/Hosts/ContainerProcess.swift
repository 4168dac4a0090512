import EventLoops
import Foundation
import Glibc
import TestSupport

/// The process of a running container, which is signalled from outside, past Docker.
final class ContainerProcess: SuiteProcess {
    let pid: Int32
    /// Writes what the container writes, and ends with it.
    private let follower: ChildProcess
    private let ending: Task<ChildExit, Never>
    private let isKilled: Locked<Bool>

    /// No run of the tests takes as long.
    private static let longest = Duration.seconds(86_400)

    init(_ container: String, of docker: DockerCommands, log path: String) async throws {
        let state = try await docker.docker("inspect", "--format", "{{.State.Pid}}", container)
        guard let pid = Int32(state), pid > 0 else { throw TestFailure("\(container) does not run") }
        let words = ["docker", "logs", "--follow", container]
        let follower = try ChildProcess("/usr/bin/env", words, environment: docker.environment, log: path)
        let isKilled = Locked(false)
        self.pid = pid
        self.follower = follower
        self.isKilled = isKilled
        self.ending = Task {
            // At once, and for as long as it lives: when it is started anew, this container is gone.
            let code = try? await docker.docker("wait", container, within: Self.longest)
            _ = await follower.exit()
            return isKilled.withLock { $0 } ? .signal(SIGKILL) : .code(Int32(code ?? "") ?? -1)
        }
    }

    var isRunning: Bool { self.follower.isRunning }

    var log: String { self.follower.log }

    func exit() async -> ChildExit { await self.ending.value }

    func kill() async -> ChildExit {
        if self.isRunning {
            self.isKilled.withLock { $0 = true }
            Glibc.kill(self.pid, SIGKILL)
        }
        return await self.exit()
    }

    func terminate(within limit: Duration) async -> ChildExit {
        if self.isRunning { Glibc.kill(self.pid, SIGTERM) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                _ = await self.kill()
            }
            _ = await self.exit()
            group.cancelAll()
        }
        return await self.exit()
    }
}
