import ArgumentParser
import ContractGate
import Contracts
import Foundation

/// `transfactl migrate`: the tables and functions of services.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "What the databases of services have and lack of their tables and functions.",
        discussion: """
            The executable of a service knows its migrations: those beside transfactl are asked, or those in --binaries. \
            <SERVICE>_MIGRATION_DATABASE_URL names the owner of a database; <SERVICE>_DATABASE_URL and \
            <SERVICE>_WORKER_DATABASE_URL name the roles that get rights. For one service the names without <SERVICE>_ do.
            """,
        subcommands: [MigrateStatus.self, MigrateApply.self]
    )
}

/// Which services, and where their executables are.
struct MigrateOptions: ParsableArguments {
    @Argument(help: "The services; all of them when none is named.")
    var services: [ServiceArgument] = []

    @Option(help: "The folder with the services' executables.")
    var binaries: String?

    var named: [ServiceName] { self.services.orAll }

    /// The executable of a service, with the environment it is to have.
    func program(of service: ServiceName) throws(Failure) -> ServiceProgram {
        var environment = ProcessInfo.processInfo.environment
        for name in ServiceProgram.urls {
            // A plain name can be meant for one service only.
            let plain = self.services.map(\.name) == [service] ? environment[name] : nil
            environment[name] = environment["\(service.rawValue.uppercased())_\(name)"] ?? plain
        }
        guard environment["MIGRATION_DATABASE_URL"]?.isEmpty == false else {
            throw Failure("\(service.rawValue.uppercased())_MIGRATION_DATABASE_URL is missing.")
        }
        return try ServiceProgram(service: service, folder: self.binaries, environment: environment)
    }
}

/// `transfactl migrate status`.
struct MigrateStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "How every migration and every set of functions stands; fails unless all are applied. Changes nothing.",
        discussion: """
            missing: apply would run it. changed: its file is not the one that was applied. late: a later one is there \
            already. unknown: a newer version of the service was here. Functions are one row per set. missing, outdated: \
            apply would run all files of the set. newer: a newer version was here, apply would leave them. Exit code 1 \
            when one is not applied.
            """,
        aliases: ["plan"]
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var which: MigrateOptions

    @Flag(help: "Also what is applied.")
    var all = false

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            var open = 0
            for service in self.which.named {
                let parts = try self.which.program(of: service).look()
                let waiting = parts.filter { $0["state"]?.text != "applied" }
                for part in self.all ? parts : waiting { MigrateStatus.show(part, of: service, output) }
                open += waiting.count
                let text = "\(service.rawValue): \(parts.count - waiting.count) applied, \(waiting.count) not"
                let node: JSONNode = [
                    "kind": "database", "service": .text(service.rawValue),
                    "applied": .number(Int64(parts.count - waiting.count)), "open": .number(Int64(waiting.count)),
                ]
                output.item(node, text: text)
            }
            return open == 0 ? .success : Exit.wrong
        }
    }

    /// A migration has a number; the functions of a set have none.
    private static func show(_ part: JSONNode, of service: ServiceName, _ output: Output) {
        let kind = part["number"] == nil ? "functions" : "migration"
        let number = part["number"]?.number.map { "\($0)_" } ?? ""
        let name = "\(part["set"]?.text ?? "")/\(number)\(part["name"]?.text ?? "")"
        let node: JSONNode = ["kind": .text(kind), "service": .text(service.rawValue), kind: part]
        output.item(node, text: "\(service.rawValue) \(part["state"]?.text ?? "") \(name)")
    }
}

/// `transfactl migrate apply`.
struct MigrateApply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Applies what is missing, one service after the other; stops at the first that fails.",
        discussion: """
            The service's own executable does it (--migrate-only), each migration in a transaction of its own, then all \
            functions that are missing or outdated in one.
            """
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var which: MigrateOptions

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            // All settings are looked at before the first database is touched.
            var programs: [ServiceProgram] = []
            for service in self.which.named { programs.append(try self.which.program(of: service)) }
            for program in programs {
                let missing = try program.look().count { ["missing", "outdated"].contains($0["state"]?.text) }
                try program.migrate()
                let name = program.service.rawValue
                let node: JSONNode = [
                    "kind": "migrated", "service": .text(name), "applied": .number(Int64(missing)),
                ]
                output.item(node, text: "\(name): \(missing) applied")
            }
            return .success
        }
    }
}
