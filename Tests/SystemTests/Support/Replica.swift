import TestSupport

/// A second process of a service, on the same databases, with ports of its own.
struct Replica: Sendable {
    /// Where clients call it.
    let url: String
    let process: any SuiteProcess
}

extension RunningSuite {
    /// Runs `body` while a second process of a service, with `extra` variables, serves and works beside the suite's own.
    func withReplica<Result>(
        of name: String,
        extra: [String: String] = [:],
        _ body: (Replica) async throws -> Result
    ) async throws -> Result {
        let port = try freePort()
        let internalPort = try freePort()
        let process = try await self.startReplica(of: name, port: port, internalPort: internalPort, extra: extra)
        let replica = Replica(url: "http://127.0.0.1:\(port)", process: process)
        do {
            try await eventually("the replica to be ready", within: .seconds(60), every: .milliseconds(50)) {
                guard process.isRunning else { throw TestFailure("it ended: \(process.log.suffix(2000))") }
                return try await self.send("GET", "http://127.0.0.1:\(internalPort)/health/ready").status == 200
            }
            let result = try await body(replica)
            await process.terminate(within: .seconds(15))
            return result
        } catch {
            await process.terminate(within: .seconds(15))
            throw error
        }
    }
}
