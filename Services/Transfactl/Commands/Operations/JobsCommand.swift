import ArgumentParser
import ContractGate
import Contracts

/// `transfactl jobs`: work that services do by themselves.
struct JobsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "Work that services do by themselves, such as calls to the provider.",
        subcommands: [JobsList.self, JobsShow.self, JobsRelease.self, JobsCancel.self, JobsRetry.self]
    )

    /// A job of a service; nil when there is none of that id.
    static func job(_ id: UUIDText, of service: ServiceName, _ caller: Caller) async throws(Failure) -> JSONNode? {
        let answer = try await caller.find(.get(.internalPort(service), "/internal/ops/jobs/\(id.text)"))
        guard let answer else {
            Output.complain("\(service.rawValue) has no job \(id.text).")
            return nil
        }
        return try answer.decode(JSONNode.self)
    }

    /// A job in a line.
    static func text(_ job: JSONNode) -> String {
        let error = job["last_error"]?.text.map { ": \($0)" } ?? ""
        return """
            \(job["id"]?.text ?? "") \(job["kind"]?.text ?? "") \(job["key"]?.text ?? "") \(job["state"]?.text ?? ""), due \
            \(job["due_at"]?.text ?? ""), \(job["attempts"]?.number ?? 0) attempts\(error)
            """
    }
}

/// States of jobs, as services name them.
enum JobState: String, CaseIterable, ExpressibleByArgument {
    case queued, running, done, failed, cancelled, skipped
}

/// `transfactl jobs list`.
struct JobsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Jobs, the newest of each service first."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "The services; all of them when none is named.")
    var services: [ServiceArgument] = []

    @Option(help: "Only jobs in this state.")
    var state: JobState?

    @Option(help: "The most jobs of a service, 1 to 1000.")
    var limit = 100

    func validate() throws {
        guard (1...1000).contains(self.limit) else { throw ValidationError("--limit is from 1 to 1000") }
    }

    func run() async throws {
        let state = self.state.map { "&state=\($0.rawValue)" } ?? ""
        let path = "/internal/ops/jobs?limit=\(self.limit)\(state)"
        try await self.show.calling { caller, output throws(Failure) in
            for service in self.services.orAll {
                for job in try await caller.list(.get(.internalPort(service), path)) {
                    let text = "\(service.rawValue) \(JobsCommand.text(job))"
                    output.item(["service": .text(service.rawValue), "job": job], text: text)
                }
            }
            return .success
        }
    }
}

/// `transfactl jobs show`.
struct JobsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "One job.")

    @OptionGroup var show: ShowOptions
    @OptionGroup var which: JobArguments

    func run() async throws {
        try await self.show.calling { caller, output throws(Failure) in
            guard let job = try await JobsCommand.job(self.which.id, of: self.which.service.name, caller) else {
                return Exit.notFound
            }
            output.item(job, text: JobsCommand.text(job))
            return .success
        }
    }
}

/// Which job is meant.
struct JobArguments: ParsableArguments {
    @Argument(help: "The service whose job it is.")
    var service: ServiceArgument

    @Argument(help: "The job's id.")
    var id: UUIDText
}
