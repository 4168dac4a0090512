import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct MoneyDropTests {
        @Test("Money Drop Full Cycle: two claim, the drop expires, the rest returns to its creator")
        func fullCycle() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("dropada", funding: 100_000)
            let bola = try await suite.person("bola")
            let chi = try await suite.person("chi")
            let drop = try await suite.drop(
                by: ada,
                MoneyDropRequest(
                    amountPerClaim: 10_000,
                    slots: 4,
                    expiresAt: Timestamp.text(Date().addingTimeInterval(86_400)),
                    title: "For the team",
                    password: "sesame"
                )
            )
            let path = "/money-drops/\(drop.moneyDropID.lowercased)"
            #expect(try await suite.wallet(ada).posted == 60_000)

            let wrong = try await suite.change(
                path + "/claim",
                as: bola,
                RunningSuite.json(ClaimRequest(password: "open"))
            )
            #expect(wrong.status == 403 && wrong.error?.code == "password_wrong")
            let right = try RunningSuite.json(ClaimRequest(password: "sesame"))
            for person in [bola, chi] {
                let claimed = try await suite.change(path + "/claim", as: person, right)
                let payment = try claimed.decode(ClaimResponse.self).transactionID
                #expect(claimed.status == 202 && claimed.header("Location") == "/transactions/\(payment.lowercased)")
                try await eventually("the claim to arrive", within: .seconds(30), every: .milliseconds(50)) {
                    try await suite.wallet(person).posted == 10_000
                }
            }
            let again = try await suite.change(path + "/claim", as: bola, right)
            #expect(again.status == 422 && again.error?.code == "already_claimed")
            let seen = try await suite.read(path, as: bola, MoneyDropResource.self)
            #expect(seen.title == "For the team" && seen.creatorUsername == ada.username && seen.claimStatus == "paid")
            #expect(seen.amountClaimed == nil)
            #expect(try await suite.read(path + "/claims", as: ada, ClaimList.self).data.count == 2)

            try await suite.expire(drop, in: 0)
            try await eventually("the rest to return", within: .seconds(40), every: .milliseconds(100)) {
                try await suite.wallet(ada).posted == 80_000
            }
            let ended = try await suite.read(path, as: ada, MoneyDropResource.self)
            #expect(ended.status == "ended" && ended.endReason == "expired")
            #expect(ended.amountClaimed == 20_000 && ended.amountRefunded == 20_000)
            let late = try await suite.change(path + "/claim", as: try await suite.person("late"), right)
            #expect(late.status == 422 && late.error?.code == "drop_expired")
            #expect(try await suite.read("/money-drops?filter=claimed", as: chi, MoneyDropPage.self).data.count == 1)
            for (person, types) in [(ada, ["drop_refund", "money_drop"]), (chi, ["drop_claim"])] {
                let entries = try await suite.read("/transactions", as: person, TransactionPage.self).data
                    .filter { $0.moneyDropID != nil }
                #expect(entries.map(\.type) == types)
                #expect(Set(entries.map(\.moneyDropID)) == [drop.moneyDropID])
            }
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension LabelledCrashes {
    @Suite struct MoneyDropCrashTests {
        @Test(
            "the rest of a drop returns once, whatever transaction was about to do when it died",
            arguments: ["before_provider_call", "after_sending"]
        )
        func labelledCrashInRefund(at label: String) async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("killdrop", funding: 50_000)
            let drop = try await suite.drop(
                by: ada,
                MoneyDropRequest(
                    amountPerClaim: 5000,
                    slots: 8,
                    expiresAt: Timestamp.text(Date().addingTimeInterval(86_400))
                )
            )
            let id = drop.moneyDropID.lowercased
            await (try suite.process("transaction")).terminate()
            let process = try await suite.start("transaction", extra: ["TRANSFA_CRASH_AT": label], awaitReady: false)
            try await eventually("the crash", within: .seconds(40), every: .milliseconds(100)) {
                guard process.isRunning else { return true }
                _ = try? await suite.change("/money-drops/\(id)/end", as: ada)
                return !process.isRunning
            }
            try await suite.expireLeases()
            try await suite.start("transaction")
            let returned = "SELECT posted FROM wallets WHERE user_id = '\(ada.id)'"
            try await suite.leap("the refund to arrive") { try await suite.number(returned) == 50_000 }
            let refunds = "SELECT count(*) FROM transfers WHERE type = 'drop_refund' AND parent_id = '\(id)'"
            #expect(try await suite.number(refunds) == 1)
            let refund = "SELECT id FROM transfers WHERE type = 'drop_refund' AND parent_id = '\(id)'"
            let transfer = try #require(UUID(text: try await suite.rows("transaction", refund)[0]))
            #expect(try await suite.acceptedByProvider(transfer) == 1)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension Faults {
    @Suite struct MoneyDropFaultTests {
    }
}

extension RunningSuite {
    /// Makes a drop and waits until it can be claimed.
    func drop(by creator: Person, _ request: MoneyDropRequest) async throws -> MoneyDropResponse {
        let answer = try await self.order("/money-drops", as: creator, request)
        guard answer.status == 202 else { throw TestFailure("the drop was answered \(answer.text)") }
        let drop = try answer.decode(MoneyDropResponse.self)
        let path = "/money-drops/\(drop.moneyDropID.lowercased)"
        try await eventually("the drop to open", within: .seconds(30), every: .milliseconds(50)) {
            try await self.read(path, as: creator, MoneyDropResource.self).status == "open"
        }
        return drop
    }

    /// Brings the end of an open drop near, since nobody knows beforehand how long its opening takes.
    func expire(_ drop: MoneyDropResponse, in milliseconds: Int) async throws {
        let moment = "transfa_now() + interval '\(milliseconds) milliseconds'"
        try await self.rows(
            "transaction",
            "UPDATE money_drops SET expires_at = \(moment) WHERE id = '\(drop.moneyDropID.lowercased)' AND state = 'open'"
        )
    }
}
