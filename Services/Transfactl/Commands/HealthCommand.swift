import ArgumentParser
import Contracts

/// `transfactl health`: whether every service is ready.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Asks every service and the sandbox whether it is ready."
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let report = self.output.report
        let isHealthy = try await Caller.with(try report.endpoints()) { caller in
            for service in ServiceName.allCases {
                await self.check(.get(.internalPort(service), "/health/ready"), service.rawValue, caller, report)
            }
            await self.check(.get(.sandbox, "/sandbox/health"), "sandbox", caller, report)
            return report.finish()
        }
        guard isHealthy else { throw ExitCode.failure }
    }

    private func check(_ call: Call, _ name: String, _ caller: Caller, _ report: Report) async {
        do {
            let answer = try await caller.send(call)
            report.check("\(name) is ready", answer.status == 200, "status \(answer.status)")
        } catch {
            report.check("\(name) is ready", false, "\(error)")
        }
    }
}
