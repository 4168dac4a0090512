import ArgumentParser
import DevSuite

/// `transfactl dev env`.
struct DevEnvironment: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "env",
        abstract: "Prints the settings of a part, or the whole suite as one JSON document. Secrets are in it.",
        discussion: """
            With --json one document: the part, or the whole suite with parts, servers, databases and operators. Otherwise \
            lines that a shell can read; without a part what transfactl reads.
            """
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var dev: DevOptions

    @Argument(help: "The part, such as auth.")
    var part: String?

    func run() async throws {
        try await self.show.run { _ throws(Failure) in
            Output.write(try await self.dev.driver.acting { try self.text($0.folder.description()) })
            return .success
        }
    }

    private func text(_ description: SuiteDescription) throws(SuiteError) -> String {
        guard let name = self.part else {
            return Self.whole(self.show.isJSON ? description.json : SettingsFile.text(description.tool))
        }
        let part = try description.part(name)
        return Self.whole(self.show.isJSON ? part.json : SettingsFile.text(part.settings))
    }

    /// Without the line end that the output adds.
    private static func whole(_ text: String) -> String { text.hasSuffix("\n") ? String(text.dropLast()) : text }
}
