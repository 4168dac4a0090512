import ArgumentParser
import Contracts
import Foundation
import Primitives

/// `transfactl pay <from> <to> <kobo>`: a payment by somebody whom `transfactl sandbox person` has invented.
struct PayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pay",
        abstract: "An invented person pays somebody by username, approved by their phone; waits until it has ended.",
        discussion: """
            Needs the sandbox, and a payer of transfactl sandbox person. Exit code 0: completed; 1: it failed, or did not \
            end in time; 2: refused, or nobody answers.
            """
    )

    @OptionGroup var output: OutputOptions
    @OptionGroup var people: PeopleOptions

    @Argument(help: "Who pays: the name that was given to transfactl sandbox person.")
    var payer: String

    @Argument(help: "Who is paid: a username.")
    var payee: String

    @Argument(help: "The amount in kobo: 100 are one naira.")
    var amount: Int64

    @Option(help: "What it is for.")
    var description: String?

    @Option(help: "The idempotency key; the same key pays once, however often. A new one unless given.")
    var key: String?

    @Flag(help: "Approve with the PIN and not with the phone.")
    var pin = false

    func run() async throws {
        try await self.output.reporting { caller, report throws(Failure) in
            let payer = try self.people.file.require(self.payer)
            let stage = try await self.people.stage(caller, report)
            report.step("\(self.payer) pays \(self.payee) \(self.amount) kobo")
            let key = self.key ?? "pay-\(UUID().lowercased)"
            let order = try PaymentOrder(to: self.payee, amount: self.amount, description: self.description, key: key)
            let means: Approver.Means = self.pin ? .pin : .device
            let call = try await Approver(stage: stage).approve(order.call, as: payer, by: means)
            let answer = try await stage.require(202, from: call, as: payer)
            let accepted = try answer.decode(P2PResponse.self)
            let ended = try await stage.end(of: accepted.transactionID, by: payer, "the payment has ended")
            report.check(
                "the payment is completed",
                ended.state == "completed",
                [ended.state, ended.failureReason].compactMap(\.self).joined(separator: ": ")
            )
            if let request = answer.requestID {
                let console = try caller.endpoints.address(of: .service(.console))
                report.note("its trace: \(console)/console#/trace?id=\(request.lowercased)")
            }
        }
    }
}
