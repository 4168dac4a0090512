import ArgumentParser
import ContractGate
import Contracts

/// `transfactl jobs release`.
struct JobsRelease: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release",
        abstract: "Makes a job due now that waits for its time."
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var which: JobArguments
    @OptionGroup var acting: OperatorOptions

    func run() async throws {
        let act = JobAct(path: "release", states: [.queued], done: "is due now", which: self.which, acting: self.acting)
        try await self.show.calling { caller, output throws(Failure) in try await act.run(caller, output) }
    }
}

/// `transfactl jobs retry`.
struct JobsRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Lets a job run again that has failed, was cancelled, or was skipped by a replay without effects."
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var which: JobArguments
    @OptionGroup var acting: OperatorOptions

    func run() async throws {
        let act = JobAct(
            path: "retry",
            states: [.failed, .cancelled, .skipped],
            done: "runs again",
            which: self.which,
            acting: self.acting
        )
        try await self.show.calling { caller, output throws(Failure) in try await act.run(caller, output) }
    }
}

/// `transfactl jobs cancel`.
struct JobsCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancels a job that waits or has failed."
    )

    @OptionGroup var show: ShowOptions
    @OptionGroup var which: JobArguments
    @OptionGroup var acting: OperatorOptions

    func run() async throws {
        let act = JobAct(
            path: "cancel",
            states: [.queued, .failed],
            done: "is cancelled",
            which: self.which,
            acting: self.acting
        )
        try await self.show.calling { caller, output throws(Failure) in try await act.run(caller, output) }
    }
}

/// What an operator does about a job in one of some states.
struct JobAct {
    /// The end of the path.
    let path: String
    let states: [JobState]
    let done: String
    let which: JobArguments
    let acting: OperatorOptions

    func run(_ caller: Caller, _ output: Output) async throws(Failure) -> ExitCode {
        let (service, id) = (self.which.service.name, self.which.id)
        guard let job = try await JobsCommand.job(id, of: service, caller) else { return Exit.notFound }
        let state = job["state"]?.text ?? ""
        guard self.states.contains(where: { $0.rawValue == state }) else { throw self.refusal(state) }
        let path = "/internal/ops/jobs/\(id.text)/\(self.path)"
        let call = try Call.post(.internalPort(service), path, self.acting.order)
        // Gone meanwhile into another state: the service decides, not what was seen a moment ago.
        guard try await caller.find(call.inName(of: self.acting.name)) != nil else {
            throw self.refusal("no longer \(state)")
        }
        let text = "the job \(id.text) \(self.done)"
        output.item(["kind": "done", "text": .text(text)], text: text)
        return .success
    }

    private func refusal(_ state: String) -> Failure {
        let wanted = self.states.map(\.rawValue).joined(separator: " or ")
        return Failure("The job \(self.which.id.text) is \(state); it must be \(wanted).")
    }
}
