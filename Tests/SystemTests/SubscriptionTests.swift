import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Faults {
    @Suite struct SubscriptionTests {
        private static let day = 86_400

        @Test("a plan is bought, renewed, and lapses when its grace is over; what it allowed goes with it")
        func life() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("planada", funding: 400_000)
            let answer = try await suite.orderPlan(ada, key: "first-\(ada.id.lowercased)")
            #expect(answer.status == 202)
            let active = try await suite.awaitPlan(of: ada, "active")
            #expect(active.plan == "plus" && active.renewsAs == "plus" && active.lastCharge?.status == "paid")
            #expect(try await suite.wallet(ada).posted == 250_000)
            // The same request again is the same answer, and no second charge.
            let again = try await suite.orderPlan(ada, key: "first-\(ada.id.lowercased)")
            #expect(again.status == 202 && again.isReplay && again.body == answer.body)
            let list = try await suite.read("/transactions", as: ada, TransactionPage.self).data
            #expect(list.map(\.type).filter { $0 == "subscription_charge" }.count == 1)

            let accounts = try await suite.addBankAccounts(2, of: ada)
            #expect(try await suite.withdraw(ada, to: accounts[1]).status == 202)

            try await suite.endPeriod(of: [ada], daysAgo: 1)
            try await suite.awaitCharges(of: ada, 2)
            #expect(try await suite.awaitPlan(of: ada, "active").graceUntil != nil)
            try await suite.endPeriod(of: [ada], daysAgo: 2)
            let unpaid = try await suite.awaitPlan(of: ada, "grace", charge: "refused")
            #expect(unpaid.lastCharge?.reason == "insufficient_funds")
            // In the grace everything goes on.
            #expect(try await suite.withdraw(ada, to: accounts[1]).status == 202)
            try await suite.awaitNotice(to: ada, "subscription.payment_failed")

            try await suite.setClocks(3 * Self.day + 60)
            do {
                try await suite.awaitPlan(of: ada, "free")
                try await suite.lapsed(ada, idle: accounts[1])
            } catch {
                try await suite.setClocks(0)
                throw error
            }
            try await suite.setClocks(0)
            try await suite.awaitNotice(to: ada, "subscription.lapsed")
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("who has not enough money is told so, and who ends a plan keeps what is paid")
        func unpaidAndCancelled() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("planpoor", funding: 149_999)
            #expect(try await suite.orderPlan(ada).status == 202)
            let refused = try await suite.awaitPlan(of: ada, "free", charge: "refused")
            #expect(refused.lastCharge?.reason == "insufficient_funds")
            try await suite.awaitNotice(to: ada, "subscription.payment_failed")
            #expect(try await suite.wallet(ada).posted == 149_999)
            let ended = try await suite.call("DELETE", .subscription, "/subscriptions", as: ada.subject)
            #expect(ended.status == 422 && ended.error?.code == "not_subscribed")

            try await suite.fund(ada, 1)
            #expect(try await suite.orderPlan(ada).status == 202)
            try await suite.awaitPlan(of: ada, "active")
            let cancelled = try await suite.call("DELETE", .subscription, "/subscriptions", as: ada.subject)
            #expect(cancelled.status == 200)
            let status = try cancelled.decode(SubscriptionStatus.self)
            #expect(status.status == "active" && status.renewsAs == nil)
            try await suite.endPeriod(of: [ada], daysAgo: 1)
            try await suite.awaitPlan(of: ada, "free")
            #expect(try await suite.wallet(ada).posted == 0)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("an order without approval, with one of another request, or with one that was used is refused")
        func approvals() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("planmute", funding: 1000)
            try await suite.awaitDevice(of: ada)
            let body = try RunningSuite.json(SubscriptionRequest(plan: "plus"))
            let good = try PaymentOrder.approve(body, by: ada, path: "/subscriptions")
            let send = { (body: [UInt8], approval: String?) in
                var headers = ["Idempotency-Key": "system-\(UUID().lowercased)"]
                headers["Transfa-Approval"] = approval
                return try await suite.call(
                    "POST",
                    .subscription,
                    "/subscriptions",
                    as: ada.subject,
                    headers: headers,
                    body: body
                )
            }
            #expect(try await send(body, nil).error?.code == "approval_required")
            let other = try RunningSuite.json(SubscriptionRequest(plan: "gold"))
            #expect(try await send(other, good).error?.code == "approval_invalid")
            let elsewhere = try PaymentOrder.approve(body, by: ada, path: "/transactions/p2p")
            #expect(try await send(body, elsewhere).error?.code == "approval_invalid")
            #expect(try await send(body, good).status == 202)
            let used = try await send(body, good)
            #expect(used.status == 403 && used.error?.code == "approval_used")
            // A refusal uses it up too.
            let unsold = try PaymentOrder.approve(other, by: ada, path: "/subscriptions")
            try await suite.awaitPlan(of: ada, "free", charge: "refused")
            #expect(try await send(other, unsold).error?.code == "plan_unknown")
            #expect(try await send(other, unsold).error?.code == "approval_used")
        }
    }
}

extension LabelledCrashes {
    @Suite struct SubscriptionCrashTests {
        @Test("three processes that renew at once charge each person once, and so does one that dies between")
        func labelledCrashInRenewal() async throws {
            let suite = try RunningSuite.current
            var people: [Person] = []
            for number in 0..<4 {
                let person = try await suite.person("planrace\(number)", funding: 500_000)
                #expect(try await suite.orderPlan(person).status == 202)
                people.append(person)
            }
            for person in people { try await suite.awaitPlan(of: person, "active") }
            try await suite.withReplica(of: "subscription") { first in
                try await suite.withReplica(of: "subscription") { _ in
                    try await suite.endPeriod(of: people, daysAgo: 1)
                    for person in people { try await suite.awaitCharges(of: person, 2) }
                    // Again, and the one that renews, or consumes, dies under it.
                    try await suite.endPeriod(of: people, daysAgo: 2)
                    await first.process.kill()
                    for person in people { try await suite.awaitCharges(of: person, 3) }
                }
            }
            await (try suite.process("transaction")).terminate()
            let dying = try await suite.start(
                "transaction",
                extra: ["TRANSFA_CRASH_AT": "after_charge"],
                awaitReady: false
            )
            try await suite.endPeriod(of: [people[0]], daysAgo: 3)
            try await eventually("the crash", within: .seconds(40), every: .milliseconds(100)) { !dying.isRunning }
            try await suite.expireLeases()
            try await suite.start("transaction")
            try await suite.awaitPlan(of: people[0], "grace", charge: "refused")
            for person in people {
                let paid =
                    "SELECT count(*), count(DISTINCT reference) FROM transfers"
                    + " WHERE type = 'subscription_charge' AND sender_id = '\(person.id)'"
                #expect(try await suite.rows("transaction", paid) == ["3|3"])
                #expect(try await suite.wallet(person).posted == 500_000 - 3 * 150_000)
            }
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// Makes the periods of people such that they ended days ago, in the grace: the day names the next charge, and only
    /// one is paid a day.
    fileprivate func endPeriod(of people: [Person], daysAgo days: Int) async throws {
        let ids = people.map { "'\($0.id)'" }.joined(separator: ",")
        try await self.rows(
            "subscription",
            """
            UPDATE subscriptions SET active_until = transfa_now() - \(days) * interval '1 day',
                grace_until = CASE WHEN renews_as IS NOT NULL THEN transfa_now() + interval '3 days' END,
                next_charge_at = CASE WHEN renews_as IS NOT NULL THEN transfa_now() END
            WHERE user_id IN (\(ids))
            """
        )
    }

    // MARK: What a plan allows

    fileprivate func addBankAccounts(_ count: Int, of person: Person) async throws -> [UUID] {
        var ids: [UUID] = []
        for number in 0..<count {
            let order = BeneficiaryRequest(accountNumber: "0\(number)\(person.username.suffix(7))7", bankCode: "000013")
            let added = try await self.addBank(order, of: person)
            ids.append(try added.decode(BeneficiaryResource.self).id)
        }
        let known = "SELECT count(*) FROM beneficiaries WHERE user_id = '\(person.id)' AND verified"
        try await eventually("the bank accounts", within: .seconds(30), every: .milliseconds(100)) {
            try await self.number(known) == count
        }
        return ids
    }

    private func addBank(_ order: BeneficiaryRequest, of person: Person) async throws -> Reply {
        // Customer hears of the plan by an event of its own.
        try await eventually("room for a bank account", within: .seconds(20), every: .milliseconds(100)) {
            let path = "/beneficiaries"
            let added = try await self.call("POST", .customer, path, as: person.subject, body: Self.json(order))
            guard [201, 202].contains(added.status) else { throw TestFailure("it was answered \(added.text)") }
            return added
        }
    }

    fileprivate func withdraw(_ person: Person, to account: UUID) async throws -> Reply {
        let order = SelfTransferRequest(beneficiaryID: account, amount: 100)
        return try await self.order("/transactions/self-transfer", as: person, order)
    }

    /// What a person whose plan has lapsed cannot do any more.
    fileprivate func lapsed(_ person: Person, idle account: UUID) async throws {
        let known = "SELECT count(*) FROM users WHERE id = '\(person.id)' AND active_until IS NULL"
        try await eventually("transaction to know it", within: .seconds(20), every: .milliseconds(100)) {
            try await self.number(known) == 1
        }
        let idle = try await self.withdraw(person, to: account)
        #expect(idle.status == 422 && idle.error?.code == "beneficiary_not_in_plan")
        let third = try Self.json(BeneficiaryRequest(accountNumber: "0912345678", bankCode: "000013"))
        let refused = try await self.call("POST", .customer, "/beneficiaries", as: person.subject, body: third)
        #expect(refused.status == 422 && refused.error?.code == "plan_needed")
        let kept = try await self.call("GET", .customer, "/beneficiaries", as: person.subject)
        #expect(kept.text.contains(account.lowercased))
    }

    fileprivate func awaitNotice(to person: Person, _ kind: String) async throws {
        let sql = "SELECT count(*) FROM notifications WHERE user_id = '\(person.id)' AND kind = '\(kind)'"
        try await eventually("the notification \(kind)", within: .seconds(20), every: .milliseconds(100)) {
            try await self.number(sql, of: "notification") >= 1
        }
    }
}
