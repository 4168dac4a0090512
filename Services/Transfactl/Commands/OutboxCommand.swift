import ArgumentParser
import Contracts

/// `transfactl outbox`: what services have published.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "What services have published.",
        subcommands: [Resend.self]
    )

    /// `transfactl outbox resend`: publishes again; consumers drop what they have handled.
    struct Resend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend",
            abstract: "Lets services publish again what they sent lately, such as after a queue was lost.",
            discussion: "Nothing takes effect twice: who has handled an event drops it."
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The services that publish again; all of them when none is named.")
        var services: [String] = []

        @Option(help: "How far back, 1 to 10080 (a week).")
        var minutes: Int

        private struct Order: Encodable {
            let minutes: Int
        }

        func validate() throws {
            guard (1...10_080).contains(self.minutes) else { throw ValidationError("--minutes is from 1 to 10080") }
            for name in self.services where ServiceName(rawValue: name) == nil {
                throw ValidationError("there is no service \(name)")
            }
        }

        func run() async throws {
            let report = self.output.report
            let named = self.services.compactMap { ServiceName(rawValue: $0) }
            let isDone = try await Caller.with(try report.endpoints()) { caller in
                for service in named.isEmpty ? ServiceName.allCases : named {
                    await self.resend(service, caller, report)
                }
                return report.finish()
            }
            guard isDone else { throw ExitCode.failure }
        }

        private func resend(_ service: ServiceName, _ caller: Caller, _ report: Report) async {
            let what = "\(service.rawValue) publishes again"
            do {
                let order = Order(minutes: self.minutes)
                let answer = try await caller.send(.post(.internalPort(service), "/internal/ops/outbox/resend", order))
                report.check(what, answer.status == 200, String(decoding: answer.body, as: UTF8.self))
            } catch {
                report.check(what, false, "\(error)")
            }
        }
    }
}
