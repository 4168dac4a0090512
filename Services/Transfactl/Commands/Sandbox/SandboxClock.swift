import ArgumentParser
import ContractGate
import Contracts

/// `transfactl sandbox clock [<seconds>]`.
struct SandboxClock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "Puts the clocks of all services forward by so many seconds, or says how they stand.",
        discussion: """
            All services together, or they would not believe each other's tokens. What is due by the new time runs at once: \
            sweeps, expiries, renewals. 0 sets them right again; what happened meanwhile stays.
            """
    )

    static let path = "/internal/ops/clock"

    /// How a clock stands.
    struct Standing: Codable {
        let offset: Int64

        private enum CodingKeys: String, CodingKey {
            case offset = "offset_seconds"
        }
    }

    @OptionGroup var show: ShowOptions

    @Argument(help: "Seconds ahead of the real time, such as 86400; nothing: how they stand.")
    var seconds: Int64?

    func validate() throws {
        guard (0...632_448_000).contains(self.seconds ?? 0) else {
            throw ValidationError("a clock is put forward by 0 to 632448000 seconds")
        }
    }

    func run() async throws {
        try await self.show.calling { caller, output throws(Failure) in
            for service in ServiceName.allCases {
                let port = Destination.internalPort(service)
                let call =
                    if let seconds = self.seconds {
                        try Call.put(port, Self.path, Standing(offset: seconds))
                    } else {
                        Call.get(port, Self.path)
                    }
                let offset = try await caller.send(call).expecting().decode(Standing.self).offset
                output.item(
                    ["kind": "clock", "service": .text(service.rawValue), "offset_seconds": .number(offset)],
                    text: "\(service.rawValue) is \(offset) s ahead"
                )
            }
            return .success
        }
    }
}
