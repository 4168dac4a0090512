import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

/// What operators see of a transfer.
private struct SeenTransfer: Decodable {
    struct Step: Decodable {
        let state: String
        let actor: String
        let evidence: String?
    }

    struct Answer: Decodable, Equatable {
        let answer: String
        let times: Int
    }

    struct Proposal: Decodable {
        let id: UUID
        let state: String
        let outcome: String
        let reason: String
    }

    let id: UUID
    let state: String
    let history: [Step]?
    let answers: [Answer]?
    let proposal: Proposal?
    let proposals: [Proposal]?
}

extension TransactionWorld {
    fileprivate var desk: TransferDeskStore { TransferDeskStore(client: self.work.client) }

    /// A payment of Ada's, of which nobody knows whether it happened.
    fileprivate func loses(_ amount: Int64) async throws -> UUID {
        try await self.funds("ada-account", 1000, "p-\(amount)")
        let paid = try await self.pays("bayo", amount)
        try await self.ends(paid, .unknown)
        try await self.runs { try await SubmissionStore().finish([("trf-\(paid.lowercased)", 1, "lost")], in: $0) }
        // Until then its order may still arrive.
        try await self.passes(.seconds(131))
        return paid
    }

    fileprivate func proposes(
        _ name: String,
        _ outcome: DecidedOutcome,
        _ transfer: UUID
    ) async throws -> UUID {
        let id = self.ids.next()
        let order = OperatorOrder(name: name, reason: "asked the bank")
        _ = try await self.work.transaction(cause: Cause()) { transaction in
            try await self.desk.propose(id, about: transfer, outcome, by: order, in: transaction)
        }
        return id
    }

    fileprivate func approves(_ name: String, _ proposal: UUID) async throws -> DecisionRefusal? {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await self.desk.approve(proposal, by: name, in: transaction)
        }
    }

    fileprivate func seen(_ transfer: UUID) async throws -> SeenTransfer {
        let text = try #require(try await self.desk.transfer(transfer))
        return try JSONDecoder().decode(SeenTransfer.self, from: Data(text.utf8))
    }

    fileprivate func listed(_ state: TransferDeskStore.State) async throws -> [UUID] {
        let text = try await self.desk.list(state, limit: 10)
        return try JSONDecoder().decode([SeenTransfer].self, from: Data(text.utf8)).map(\.id)
    }
}

@Suite("Decisions of two operators about transfers")
struct TransferDecisionTests {
    @Test("an unknown transfer is settled when a second operator approves, told to others, and shown with its evidence")
    func settled() async throws {
        try await withTransaction { world in
            let paid = try await world.loses(300)
            #expect(try await world.listed(.unknown) == [paid])
            for word in ["not_found", "no_answer", "not_found"] {
                try await world.runs { try await SubmissionStore().keep([(paid, word)], in: $0) }
            }
            let proposal = try await world.proposes("grace", .failed, paid)
            await #expect(throws: DecisionRefusal.alreadyProposed) {
                try await world.proposes("linus", .completed, paid)
            }
            #expect(try await world.approves("grace", proposal) == .sameOperator)
            let open = try await world.seen(paid)
            #expect(
                open.state == "unknown" && open.proposal?.id == proposal && open.proposal?.reason == "asked the bank"
            )
            #expect(open.answers?.contains(.init(answer: "not_found", times: 2)) == true)
            #expect(try await world.approves("linus", proposal) == nil)
            #expect(try await world.approves("barbara", proposal) == .decided)
            let ended = try await world.seen(paid)
            #expect(ended.state == "failed" && ended.proposal == nil && ended.proposals?.map(\.state) == ["approved"])
            #expect(ended.history?.last?.actor == "operators grace and linus")
            #expect(ended.history?.last?.evidence == "proposal:\(proposal.lowercased)")
            #expect(try await world.history.wallet(of: world.ada)?.available == 1000)
            let told =
                "SELECT count(*) FROM outbox WHERE type = 'transaction.failed' AND subject = '\(paid.lowercased)'"
            #expect(try await world.number(told) == 1)
            let of = { (state: String) in
                #"{"outcome":"failed","proposal":"\#(proposal.lowercased)","proposed_by":"grace","state":"\#(state)"}"#
            }
            let was = #"{"amount":300,"state":"unknown"}"#
            #expect(
                try await world.acts("transfer.") == [
                    "grace|transfer.proposed|\(paid.lowercased)|asked the bank|\(was)|\(of("open"))|",
                    "linus|transfer.approved|\(paid.lowercased)|asked the bank|\(of("open"))|\(of("approved"))|",
                ]
            )
            #expect(try await world.listed(.unknown) == [])
            #expect(try await world.listed(.failed) == [paid])
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a proposal that is too old is closed by whoever comes too late, and stays closed")
    func expired() async throws {
        try await withTransaction { world in
            let paid = try await world.loses(300)
            let proposal = try await world.proposes("grace", .completed, paid)
            let listed = try await world.desk.proposals(limit: 10)
            #expect(listed.contains(proposal.lowercased))
            try await world.passes(TransferDeskStore.validity)
            let later = try await world.desk.proposals(limit: 10)
            #expect(later == "[]")
            #expect(try await world.approves("linus", proposal) == .expired)
            #expect(try await world.approves("linus", proposal) == .decided)
            // What closes a proposal is an act, whatever was wanted.
            let acts = try await world.acts("transfer.expired")
            let act = try #require(acts.first)
            #expect(acts.count == 1 && act.hasPrefix("linus|transfer.expired|\(paid.lowercased)|asked the bank|"))
            #expect(act.contains(#""state":"open"}|"#) && act.hasSuffix(#""state":"expired"}|"#))
            #expect(try await world.seen(paid).state == "unknown")
            #expect(try await world.proposes("linus", .completed, paid) != proposal)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("evidence wins over a proposal, whichever of the two comes while the other one is under way")
    func race() async throws {
        try await withTransaction { world in
            var expected: Int64 = 0
            for amount in Int64(1)...6 {
                let paid = try await world.loses(amount)
                expected += 1000
                let proposal = try await world.proposes("grace", .failed, paid)
                let verdict = TransferVerdict(outcome: .completed, evidence: "webhook:1")
                async let refusal = world.approves("linus", proposal)
                async let results = world.work.transaction(cause: Cause()) { transaction in
                    try await SubmissionStore().settle([(paid, verdict)], in: transaction)
                }
                let (refused, settled) = (try await refusal, try await results)
                let state = try await world.seen(paid).state
                if state == "completed" { expected -= amount }
                #expect(refused == (state == "completed" ? .overtaken : nil))
                #expect(settled == [state == "completed" ? "completed" : "break"])
            }
            #expect(try await world.history.wallet(of: world.ada)?.posted == expected)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a completed transfer is reversed by two operators, and withdrawn proposals change nothing")
    func reversed() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let paid = try await world.pays("bayo", 400)
            try await world.ends(paid)
            #expect(try await world.listed(.completed).first == paid)
            await #expect(throws: DecisionRefusal.notUnknown) { try await world.proposes("grace", .failed, paid) }
            let first = try await world.proposes("grace", .reversed, paid)
            try await world.work.transaction(cause: Cause()) { transaction in
                let order = OperatorOrder(name: "grace", reason: "another transfer")
                try await world.desk.withdraw(first, by: order, in: transaction)
            }
            #expect(try await world.approves("linus", first) == .decided)
            let of = { (state: String) in
                #"{"outcome":"reversed","proposal":"\#(first.lowercased)","proposed_by":"grace","state":"\#(state)"}"#
            }
            #expect(
                try await world.acts("transfer.withdrawn") == [
                    "grace|transfer.withdrawn|\(paid.lowercased)|another transfer|\(of("open"))|\(of("withdrawn"))|"
                ]
            )
            let second = try await world.proposes("linus", .reversed, paid)
            #expect(try await world.approves("grace", second) == nil)
            #expect(try await world.seen(paid).state == "reversed")
            #expect(try await world.listed(.reversed) == [paid])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 1000)
            #expect(try await world.history.wallet(of: world.bayo)?.posted == 0)
            #expect(try await world.approves("linus", world.ids.next()) == .missing)
            #expect(try await world.brokenInvariants() == [])
        }
    }
}
