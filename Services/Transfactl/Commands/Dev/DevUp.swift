import ArgumentParser
import ContractGate
import DevSuite

/// `transfactl dev up`.
struct DevUp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Starts parts, and returns when they are ready; what runs already stays.",
        discussion: """
            A folder that was never prepared is prepared first. A part that ends at once or does not become ready is \
            reported with the last lines of its log; then nothing that this call has started keeps running.
            """
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var dev: DevOptions
    @OptionGroup var preparing: PrepareOptions

    @Argument(help: "The parts, such as sandbox or auth; all of them when none is named.")
    var parts: [String] = []

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            let driver = self.dev.driver
            if !driver.folder.isPrepared { try await self.preparing.prepare(with: driver) }
            try await driver.makeBrokerUsers()
            for name in try await driver.acting({ try await $0.start(self.parts) }) {
                output.item(["kind": "running", "part": .text(name)], text: "\(name) runs already")
            }
            return .success
        }
    }
}

/// `transfactl dev down`.
struct DevDown: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "down",
        abstract: "Stops parts, all of them when none is named, side by side; the servers stay.",
        discussion: "SIGTERM, and SIGKILL after 15 seconds. A folder without a suite has nothing to stop."
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var dev: DevOptions

    @Argument(help: "The parts, such as sandbox or auth.")
    var parts: [String] = []

    func run() async throws {
        try await self.show.run { _ throws(Failure) in
            guard self.dev.driver.folder.isPrepared || !self.parts.isEmpty else { return .success }
            try await self.dev.driver.acting { try await $0.stop(self.parts) }
            return .success
        }
    }
}
