import Contracts
import Foundation
import Glibc
import TestSupport
import Testing

extension Faults {
    /// Transaction dies; what must hold holds all the same.
    @Suite struct CrashTests {
        @Test("payments go on and end once when transaction is killed under them")
        func killed() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("killed", funding: 200_000)
            let payee = try await suite.person("payee")
            let orders = try (0..<60).map { try PaymentOrder(from: payer, to: payee.username, 1000 + Int64($0)) }
            for round in 0..<2 {
                let part = Array(orders[(round * 30)..<(round * 30 + 30)])
                let process = try suite.process("transaction")
                await withTaskGroup(of: Void.self) { group in
                    for order in part { group.addTask { _ = try? await suite.pay(order) } }
                    // As soon as the first of them are with the provider.
                    try? await eventually("a payment under way", within: .seconds(10), every: .milliseconds(5)) {
                        try await suite.number("SELECT count(*) FROM transfers WHERE sender_id = '\(payer.id)'")
                            > round
                    }
                    await process.kill()
                }
                try await suite.expireLeases()
                try await suite.start("transaction")
            }
            let answers = try await suite.payAtOnce(orders)
            #expect(Set(answers.map(\.status)) == [202])
            let ids = try Set(answers.map { try $0.decode(P2PResponse.self).transactionID })
            #expect(ids.count == 60)
            try await suite.end(of: payer)
            for id in ids { #expect(try await suite.acceptedByProvider(id) == 1) }
            let total = Int64((0..<60).reduce(0) { $0 + 1000 + $1 })
            #expect(try await suite.wallet(payer).posted == 200_000 - total)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension LabelledCrashes {
    @Suite struct CrashAtLabelTests {
        @Test(
            "a payment ends once, whatever transaction was about to do when it died",
            arguments: [
                "after_sending", "after_provider_answer", "before_commit", "after_commit_before_ack",
                "after_publish_before_mark", "before_provider_call",
            ]
        )
        func labelledCrash(at label: String) async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("crash", funding: 20_000)
            let payee = try await suite.person("payee")
            await (try suite.process("transaction")).terminate()
            let process = try await suite.start(
                "transaction",
                extra: ["TRANSFA_CRASH_AT": label],
                awaitReady: false
            )
            let order = try PaymentOrder(from: payer, to: payee.username, 500)
            let fund = #"{"amount":1000}"#
            #expect(
                try await suite.sandbox("POST", "/sandbox/accounts/\(payer.accountNumber)/fund", fund).status == 201
            )
            // The label may strike before it can answer.
            try await eventually("the crash", within: .seconds(40), every: .milliseconds(100)) {
                guard process.isRunning else { return true }
                _ = try? await suite.pay(order)
                return !process.isRunning
            }
            #expect(await process.exit() == .code(137))

            try await suite.expireLeases()
            try await suite.start("transaction")
            let answer = try await suite.pay(order)
            #expect(answer.status == 202)
            let id = try answer.decode(P2PResponse.self).transactionID
            try await suite.end(of: payer)
            #expect(try await suite.state(id) == "completed")
            #expect(try await suite.acceptedByProvider(id) == 1)
            try await eventually("the money to be credited", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.wallet(payer).posted == 20_000 + 1000 - 500
            }
            #expect(try await suite.wallet(payee).posted == 500)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// What the time a lease lasts would do to the jobs of a dead process.
    func expireLeases() async throws {
        try await self.rows(
            "transaction",
            "UPDATE jobs SET lease_until = transfa_now() - interval '1 second' WHERE state = 'running'"
        )
    }

    /// Waits until all transfers of somebody have ended, at first in real time.
    func end(of person: Person, inRealTime limit: Duration = .seconds(3)) async throws {
        let soon = try? await eventually("all to end", within: limit, every: .milliseconds(100)) {
            try await self.openTransfers(of: person) == 0 ? true : nil
        }
        guard soon != true else { return }
        try await self.leap("all transfers to end") { try await self.openTransfers(of: person) == 0 }
    }
}
