import ArgumentParser
import Contracts

/// `transfactl outbox`: what services have published.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "What services have published.",
        subcommands: [Status.self, Resend.self]
    )

    /// `transfactl outbox status`: how far publishing is behind.
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "How many events wait to be published, and how long the oldest has; fails when that is too long."
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The services; all of them when none is named.")
        var services: [ServiceArgument] = []

        @Option(help: "The most seconds that an event may wait, 1 to 86400.")
        var behind = 60

        private struct Outbox: Decodable {
            let unsent: Int64
            let oldest: Double

            private enum CodingKeys: String, CodingKey {
                case unsent
                case oldest = "oldest_unsent_seconds"
            }
        }

        func validate() throws {
            guard (1...86_400).contains(self.behind) else { throw ValidationError("--behind is from 1 to 86400") }
        }

        func run() async throws {
            try await self.output.reporting { caller, report throws(Failure) in
                for service in self.services.orAll {
                    await self.look(at: service, caller, report)
                }
            }
        }

        private func look(at service: ServiceName, _ caller: Caller, _ report: Report) async {
            let what = "\(service.rawValue) publishes in time"
            do throws(Failure) {
                let answer = try await caller.send(.get(.internalPort(service), "/internal/ops/outbox")).expecting()
                let outbox = try answer.decode(Outbox.self)
                let figures = "\(outbox.unsent) unsent, the oldest for \(Int64(outbox.oldest)) s"
                report.check(what, outbox.oldest <= Double(self.behind), figures)
            } catch {
                report.unreachable(what, error)
            }
        }
    }

    /// `transfactl outbox resend`: publishes again; consumers drop what they have handled.
    struct Resend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resend",
            abstract: "Lets services publish again what they sent lately, such as after a queue was lost.",
            discussion: "Nothing takes effect twice: who has handled an event drops it."
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The services that publish again; all of them when none is named.")
        var services: [ServiceArgument] = []

        @Option(help: "How far back, 1 to 10080 (a week).")
        var minutes: Int

        @OptionGroup var acting: OperatorOptions

        private struct Order: Encodable {
            let minutes: Int
            let reason: String
        }

        func validate() throws {
            guard (1...10_080).contains(self.minutes) else { throw ValidationError("--minutes is from 1 to 10080") }
        }

        func run() async throws {
            let order = Order(minutes: self.minutes, reason: self.acting.reason)
            try await self.output.reporting { caller, report throws(Failure) in
                for service in self.services.orAll {
                    let call = try Call.post(.internalPort(service), "/internal/ops/outbox/resend", order)
                    let what = "\(service.rawValue) publishes again"
                    do throws(Failure) {
                        report.act(what, try await caller.send(call.inName(of: self.acting.name)))
                    } catch {
                        report.unreachable(what, error)
                    }
                }
            }
        }
    }
}
