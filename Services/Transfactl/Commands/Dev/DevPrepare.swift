import ArgumentParser
import DevSuite
import Foundation

/// `transfactl dev prepare`.
struct DevPrepare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare",
        abstract: "Makes databases with their roles and tables, and writes the settings of all parts; starts nothing.",
        discussion: """
            Repeatable: ports, secrets and databases that are there stay. <folder>/elsewhere.env may name other servers \
            than those of <folder>/servers. LOG_LEVEL and LLVM_PROFILE_FILE are passed on.
            """
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var dev: DevOptions
    @OptionGroup var preparing: PrepareOptions

    func run() async throws {
        try await self.show.run { _ throws(Failure) in
            try await self.preparing.prepare(with: self.dev.driver)
            return .success
        }
    }
}

/// How a suite is prepared.
struct PrepareOptions: ParsableArguments {
    @Option(help: "The folder with the executables; that of transfactl when none is named.")
    var binaries: String?

    @Option(help: "All limits of requests, as requests/seconds, such as 1000000/1; otherwise as documented.")
    var rateLimit: String?

    @Flag(help: "Also a second console, which reads no event log: the part importer.")
    var importer = false

    func validate() throws {
        guard self.rateLimit?.contains(/^([0-9]{1,9}\/[0-9]{1,6}|off)$/) ?? true else {
            throw ValidationError("--rate-limit is requests/seconds, such as 1000000/1, or off")
        }
    }

    /// Prepares the driver's folder.
    func prepare(with driver: SuiteDriver) async throws(Failure) {
        let environment = ProcessInfo.processInfo.environment
        var choices = SuiteChoices()
        choices.rateLimit = self.rateLimit
        choices.hasImporter = self.importer
        if let level = environment["LOG_LEVEL"], !level.isEmpty { choices.logLevel = level }
        if let profile = environment["LLVM_PROFILE_FILE"], !profile.isEmpty { choices.profile = profile }
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let beside = own.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path } ?? "."
        let binaries = URL(fileURLWithPath: self.binaries ?? beside).standardizedFileURL.path
        let deploy = try Self.deploy(above: [beside, FileManager.default.currentDirectoryPath])
        _ = try await driver.acting {
            try await $0.prepare(binaries: binaries, deploy: deploy, choices: choices)
        }
    }

    /// The folder `deploy` of the repository that one of these folders lies in.
    private static func deploy(above folders: [String]) throws(Failure) -> String {
        let name = "deploy/postgres/roles.sql"
        for start in folders {
            var folder = URL(fileURLWithPath: start).standardizedFileURL
            while folder.path != "/" {
                let path = folder.appendingPathComponent(name).path
                if FileManager.default.fileExists(atPath: path) { return folder.appendingPathComponent("deploy").path }
                folder.deleteLastPathComponent()
            }
        }
        throw Failure("\(name) was found neither above transfactl nor above the current folder.")
    }
}
