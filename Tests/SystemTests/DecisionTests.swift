import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

/// Transfers that two operators decide about, on the command line, with all services running.
extension Faults {
    @Suite struct DecisionTests {
        @Test(
            "a transfer whose end nobody can find out is settled by two operators, as arrived, and one alone is refused"
        )
        func arrived() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("decada", funding: 20_000)
            let payee = try await suite.person("decbola")
            try await suite.withSwitches(#""transferOutcome":"never""#) {
                // Taken, but the answer is lost; and the provider does not answer questions about it either.
                let paid = try await suite.loseTransfer(from: payer, to: payee, 3000, by: "drop-after") { id in
                    let asking = #""method":"GET","path":"/api/v1/transfers/by-reference/trf-\#(id)""#
                    return #"{"fault":"status=503",\#(asking),"count":1000}"#
                }
                try await suite.askAgain(about: paid, answer: "no_answer")
                #expect(try await suite.state(paid) == "unknown")
                let id = paid.lowercased
                let listed = try await suite.tool(["transfers", "list"])
                #expect(listed.contains("\(id)  unknown"))

                let reasoned = ["--operator", "ada", "--reason", "the bank shows it"]
                let proposed = try await suite.tool(
                    ["transfers", "settle", id, "--outcome", "completed", "--json"] + reasoned
                )
                let proposal = try JSONDecoder().decode(Proposal.self, from: Data(proposed.utf8)).id.lowercased
                #expect(try await suite.tool(["transfers", "proposals"]).contains(proposal))
                let alone = try await suite.toolFails(["transfers", "approve", proposal, "--operator", "ada"])
                #expect(alone.contains("same_operator"))
                #expect(try await suite.state(paid) == "unknown")
                let approved = try await suite.tool(["transfers", "approve", proposal, "--operator", "bola"])
                #expect(approved.contains("proposal \(proposal) is approved"))
                #expect(try await suite.state(paid) == "completed")
                let shown = try await suite.tool(["transfers", "show", id])
                #expect(shown.contains("completed, by operators ada and bola, on proposal:\(proposal)"))
                #expect(shown.contains("the provider said no_answer") && shown.contains("because: the bank shows it"))
                let again = try await suite.toolFails(["transfers", "approve", proposal, "--operator", "bola"])
                #expect(again.contains("decided"))
                // What the provider says at last agrees, and changes nothing.
                let outcome = "/sandbox/transfers/trf-\(id)/outcome"
                #expect(try await suite.sandbox("POST", outcome, #"{"outcome":"completed"}"#).status == 200)
                try await suite.quiet()
            }
            #expect(try await suite.wallet(payer).posted == 17_000)
            #expect(try await suite.wallet(payee).posted == 3000)
            try await suite.sandbox("DELETE", "/sandbox/faults")
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a transfer that never reached the provider is settled as failed, and gives everything back")
        func failed() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("decchi", funding: 20_000)
            let payee = try await suite.person("decdan")
            let paid = try await suite.loseTransfer(from: payer, to: payee, 4000, by: "drop-before") { _ in nil }
            try await suite.askAgain(about: paid, answer: "not_found")
            #expect(try await suite.wallet(payer).available == 16_000)
            // As if its order were so old that it can arrive no more.
            let age = "started_at = started_at - interval '3 minutes', deadline_at = deadline_at - interval '3 minutes'"
            try await suite.rows(
                "transaction",
                "UPDATE provider_calls SET \(age) WHERE reference = 'trf-\(paid.lowercased)'"
            )
            let path = "/internal/transfers/\(paid.lowercased)/proposals"
            let order = #"{"outcome":"failed","reason":"the provider has no such transfer"}"#
            let proposal = try await suite.operate("POST", "transaction", path, order).decode(Proposal.self).id
            #expect(try await suite.operate("POST", "transaction", path, order).error?.code == "already_proposed")
            let approve = "/internal/transfer-proposals/\(proposal.lowercased)/approve"
            #expect(try await suite.operate("POST", "transaction", approve).error?.code == "same_operator")
            _ = try await suite.tool(["transfers", "approve", proposal.lowercased, "--operator", "linus"])
            #expect(try await suite.state(paid) == "failed")
            #expect(try await suite.wallet(payer).available == 20_000)
            let audited = try await suite.tool(["audit", "list", "transaction", "--subject", paid.lowercased])
            #expect(audited.contains("grace transfer.proposed") && audited.contains("linus transfer.approved"))
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a payment that the provider took back without telling is reversed by two operators")
        func reversed() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("deceva", funding: 20_000)
            let payee = try await suite.person("decfay")
            let paid = try await suite.pay(from: payer, to: payee, 5000)
            try await suite.await(paid, "completed", within: .seconds(40))
            let id = paid.lowercased
            let acting = ["--operator", "ada", "--reason", "on the provider's statement"]
            let refused = try await suite.toolFails(["transfers", "settle", id, "--outcome", "failed"] + acting)
            #expect(refused.contains("not_unknown"))
            let proposed = try await suite.tool(["transfers", "reverse", id, "--json"] + acting)
            let proposal = try JSONDecoder().decode(Proposal.self, from: Data(proposed.utf8)).id.lowercased
            _ = try await suite.tool(["transfers", "withdraw", proposal] + acting)
            let late = try await suite.toolFails(["transfers", "approve", proposal, "--operator", "bola"])
            #expect(late.contains("decided"))
            let second = try await suite.tool(["transfers", "reverse", id, "--json"] + acting)
            let other = try JSONDecoder().decode(Proposal.self, from: Data(second.utf8)).id.lowercased
            _ = try await suite.tool(["transfers", "approve", other, "--operator", "bola"])
            #expect(try await suite.state(paid) == "reversed")
            #expect(try await suite.wallet(payer).posted == 20_000)
            #expect(try await suite.wallet(payee).posted == 0)
            #expect(try await suite.brokenInvariants() == [])
        }

        private struct Proposal: Decodable {
            let id: UUID
        }
    }
}

extension RunningSuite {
    /// A payment whose order goes wrong in such a way that nobody knows whether it happened.
    ///
    /// - Parameters:
    ///   - payer: Who pays.
    ///   - payee: Who is paid.
    ///   - amount: How much.
    ///   - fault: What becomes of the order.
    ///   - next: A further fault, made with the transfer's id before the provider is asked about it.
    /// - Returns: The transfer.
    /// - Throws: `TestFailure`.
    fileprivate func loseTransfer(
        from payer: Person,
        to payee: Person,
        _ amount: Int64,
        by fault: String,
        next: (String) -> String?
    ) async throws -> UUID {
        try await self.fault(fault)
        let paid = try await self.pay(from: payer, to: payee, amount)
        if let rule = next(paid.lowercased) {
            let answer = try await self.sandbox("POST", "/sandbox/faults", rule)
            guard (200..<300).contains(answer.status) else { throw TestFailure("the fault: \(answer.text)") }
        }
        try await self.await(paid, "unknown", within: .seconds(40))
        return paid
    }

    /// Has the provider asked about a transfer now, as operators do: by releasing the job that would ask later.
    fileprivate func askAgain(about transfer: UUID, answer: String) async throws {
        struct Waiting: Decodable {
            let id: UUID
            let key: String
        }
        struct Evidence: Decodable {
            struct Answer: Decodable {
                let answer: String
            }

            let answers: [Answer]
        }
        let path = "/internal/ops/jobs?kind=submit_transfer&delayed=true&limit=1000"
        let job = try await eventually("the job to wait", within: .seconds(30), every: .milliseconds(100)) {
            try await self.operate("GET", "transaction", path).decode([Waiting].self)
                .first { $0.key == transfer.lowercased }?.id
        }
        let release = "/internal/ops/jobs/\(job.lowercased)/release"
        #expect(try await self.operate("POST", "transaction", release, #"{"reason":"a test"}"#).status == 204)
        try await eventually("the provider's answer", within: .seconds(60), every: .milliseconds(200)) {
            let shown = try await self.operate("GET", "transaction", "/internal/transfers/\(transfer.lowercased)")
            return try shown.decode(Evidence.self).answers.map(\.answer) == [answer]
        }
        let runs = try await self.operate("GET", "transaction", "/internal/ops/jobs/\(job.lowercased)").text
        #expect(runs.contains("not_decided"))
    }
}
