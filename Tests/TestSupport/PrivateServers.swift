import DevSuite
import Foundation

/// Runs `body` with servers of its own that nobody else uses, and removes them afterwards.
///
/// For tests that kill, stop or block a server. Starting takes about 1 s for Postgres and Redis and 7 s for RabbitMQ,
/// so name only what is needed. At most two such sets exist at a time; do not nest calls.
public func withPrivateServers<Result>(
    _ servers: Set<TestServer>,
    _ body: (TestServers) async throws -> Result
) async throws -> Result {
    await privateServerSlots.take()
    do {
        let result = try await runWithPrivateServers(servers, body)
        await privateServerSlots.giveBack()
        return result
    } catch {
        await privateServerSlots.giveBack()
        throw error
    }
}

private func runWithPrivateServers<Result>(
    _ servers: Set<TestServer>,
    _ body: (TestServers) async throws -> Result
) async throws -> Result {
    // Short, because the path of a unix socket has to fit in.
    let directory = "\(Scratch.directory)/s\(Scratch.shortName())"
    let script = Repository.path("scripts/servers")
    do {
        try await Command.run(script, ["start", directory] + servers.map(\.rawValue).sorted(), within: .seconds(300))
        let result = try await body(TestServers(settings: environmentFile(at: "\(directory)/servers.env")))
        try await Command.run(script, ["destroy", directory])
        return result
    } catch {
        _ = try? await Command.run(script, ["destroy", directory])
        throw error
    }
}

/// Reads lines of the form NAME='value', as `scripts/servers` and `scripts/run` write them.
public func environmentFile(at path: String) throws -> [String: String] {
    SettingsFile.variables(try String(contentsOfFile: path, encoding: .utf8))
}

/// Two sets of servers beside the shared ones are what a small machine carries.
private let privateServerSlots = Slots(2)

private actor Slots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        self.free = count
    }

    func take() async {
        guard self.free == 0 else {
            self.free -= 1
            return
        }
        await withCheckedContinuation { self.waiting.append($0) }
    }

    func giveBack() {
        if self.waiting.isEmpty {
            self.free += 1
        } else {
            self.waiting.removeFirst().resume()
        }
    }
}
