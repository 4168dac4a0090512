import ArgumentParser
import ContractGate
import DevSuite

/// `transfactl dev status`.
struct DevStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Every part with its process, its addresses and whether it is ready.",
        discussion: "Exit code 1: one does not run or is not ready."
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var dev: DevOptions

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            let standings = try await self.dev.driver.acting { try await $0.standings() }
            if !output.isJSON { Output.write(Self.row("part", "pid", "public", "internal", "ready")) }
            for standing in standings {
                output.item(Self.node(standing), text: Self.row(standing))
            }
            return standings.allSatisfy(\.isReady) ? .success : Exit.wrong
        }
    }

    private static func row(_ standing: SuiteDriver.Standing) -> String {
        let pid = standing.pid.map(String.init) ?? "-"
        let part = standing.part
        return Self.row(part.name, pid, part.publicURL, part.internalURL ?? "-", standing.isReady ? "yes" : "no")
    }

    private static func row(_ cells: String...) -> String {
        zip(cells, [14, 9, 24, 24, 0]).map { text, width in
            text + String(repeating: " ", count: max(0, width - text.count))
        }.joined()
    }

    private static func node(_ standing: SuiteDriver.Standing) -> JSONNode {
        let part = standing.part
        return [
            "kind": "part", "name": .text(part.name), "pid": standing.pid.map { JSONNode.number(Int64($0)) } ?? .null,
            "public_url": .text(part.publicURL), "internal_url": part.internalURL.map { JSONNode.text($0) } ?? .null,
            "is_ready": .boolean(standing.isReady),
        ]
    }
}

extension SuitePart {
    fileprivate var publicURL: String { self.publicPort.map { "http://127.0.0.1:\($0)" } ?? "-" }

    fileprivate var internalURL: String? { self.internalPort.map { "http://127.0.0.1:\($0)" } }
}
