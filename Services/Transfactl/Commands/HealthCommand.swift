import ArgumentParser
import Contracts

/// `transfactl health`: whether every service is ready.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Asks every service, and the sandbox where there is one, whether it is ready.",
        discussion: "Exit code 1: one is not ready; 2: one does not answer."
    )

    @OptionGroup var output: OutputOptions

    @Argument(help: "The services; all of them, and the sandbox, when none is named.")
    var services: [ServiceArgument] = []

    func run() async throws {
        try await self.output.reporting { caller, report throws(Failure) in
            for service in self.services.orAll {
                await Self.check(.get(.internalPort(service), "/health/ready"), service.rawValue, caller, report)
            }
            if self.services.isEmpty, caller.endpoints.knows(.sandbox) {
                await Self.check(.get(.sandbox, "/sandbox/health"), "sandbox", caller, report)
            }
        }
    }

    private static func check(_ call: Call, _ name: String, _ caller: Caller, _ report: Report) async {
        do throws(Failure) {
            let answer = try await caller.send(call)
            let said = answer.status == 200 ? "" : " \(Excerpt.of(answer.body))"
            report.check("\(name) is ready", answer.status == 200, "status \(answer.status)\(said)")
        } catch {
            report.unreachable("\(name) is ready", error)
        }
    }
}
