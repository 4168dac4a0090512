import Contracts
import Foundation
import Primitives
import Sealing
import TestSupport
import Testing

extension Journeys {
    @Suite struct IdentityTests {
        @Test("a rejected sign-up says why, is corrected, and ends with a wallet")
        func resubmission() async throws {
            let suite = try RunningSuite.current
            let run = String(Int.random(in: 1_000_000...9_999_999))
            let other = try await suite.person("hasmail")
            let subject = "user_system_again\(run)"
            var order = RunningSuite.signUp(username: "again\(run)", run: run)
            order.contactDetails?.email = "\(other.username)@example.com"
            let signed = try await suite.call("POST", .auth, "/onboarding", as: subject, body: RunningSuite.json(order))
            #expect(signed.status == 201)
            let inUse = try await suite.status(of: subject, "rejected")
            #expect(inUse.reason?.code == "email_in_use" && inUse.reason?.detail.isEmpty == false)

            // Another address, and a BVN that the stand-in rejects.
            var kyc = try #require(order.kycDetails)
            var contact = try #require(order.contactDetails)
            contact.email = "again\(run)@example.com"
            kyc.bvn = "\(run)9990"
            try await suite.correct(subject, OnboardingDetailsRequest(kycDetails: kyc, contactDetails: contact))
            let mismatch = try await suite.status(of: subject, "rejected")
            #expect(mismatch.reason?.code == "details_mismatch")

            kyc.bvn = "221\(run)7"
            kyc.fullName = "Ada Corrected"
            try await suite.correct(subject, OnboardingDetailsRequest(kycDetails: kyc, contactDetails: contact))
            let approved = try await suite.status(of: subject, "approved")
            #expect(approved.reason == nil && approved.username == "again\(run)")
            try await eventually("the wallet", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.call("GET", .account, "/accounts/me", as: subject).status == 200
            }
            let again = OnboardingDetailsRequest(contactDetails: contact)
            let late = try await suite.call(
                "PUT",
                .auth,
                "/onboarding/details",
                as: subject,
                body: RunningSuite.json(again)
            )
            #expect(late.status == 409)
        }

        @Test("after a PIN reset, by who has just signed in, a PIN sends no more than a new device for a day")
        func pinReset() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("forgets", funding: 5_000_000)
            let bola = try await suite.person("gets")
            // The phone is two days old: it caps nothing any more.
            let old = "UPDATE devices SET activated_at = transfa_now() - interval '2 days' WHERE user_id = '\(ada.id)'"
            try await suite.rows("transaction", old)
            let stale = try await suite.token(of: ada.subject, more: #","claims":{"fva":[11,-1]}"#)
            let body = try RunningSuite.json(PINResetRequest(pin: "739155"))
            let url = suite.environment.publicURL("auth") + "/pin/reset"
            let refused = try await suite.send("POST", url, headers: ["Authorization": "Bearer \(stale)"], body: body)
            #expect(refused.status == 403 && refused.error?.code == "reverification_required")
            #expect(try await suite.payByPIN(ada, to: bola, 2_100_000, pin: RunningSuite.pin).status == 202)

            #expect(try await suite.call("POST", .auth, "/pin/reset", as: ada.subject, body: body).status == 204)
            try await eventually("transaction to hear of it", within: .seconds(20), every: .milliseconds(50)) {
                try await suite.number("SELECT count(*) FROM devices WHERE user_id = '\(ada.id)'") == 3
            }
            let capped = try await suite.payByPIN(ada, to: bola, 2_100_000, pin: "739155")
            #expect(capped.status == 422 && capped.error?.code == "limit_new_device")
            #expect(try await suite.payByPIN(ada, to: bola, 100_000, pin: "739155").status == 202)
            #expect(try await suite.pay(PaymentOrder(from: ada, to: bola.username, 2_050_000)).status == 202)
            try await eventually("the payments to arrive", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.openTransfers(of: ada) == 0
            }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a user deleted at Clerk is closed; only signed, fresh messages count")
        func deleted() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("leaves", funding: 20_000)
            let bola = try await suite.person("stays")
            for bad in [
                #","secret":"whsec_MDEyMzQ1Njc4OWFiY2RlZg==""#, #","age_seconds":400"#, #","age_seconds":-400"#,
                #","altered":true"#,
            ] {
                #expect(try await suite.deleteAtClerk(ada, bad) == 401)
            }
            #expect(try await suite.call("GET", .auth, "/onboarding/status", as: ada.subject).status == 200)
            for _ in 0..<2 { #expect(try await suite.deleteAtClerk(ada, #","id":"msg_\#(ada.username)""#) == 200) }
            let told = "SELECT count(*) FROM outbox WHERE type = 'user.closed' AND subject = '\(ada.id.lowercased)'"
            #expect(try await suite.number(told, of: "auth") == 1)
            try await suite.awaitClosed(ada)
            let status = try await suite.call("GET", .auth, "/onboarding/status", as: ada.subject)
            #expect(status.status == 403 && status.error?.code == "profile_closed")
            let refused = try await suite.pay(PaymentOrder(from: ada, to: bola.username, 100))
            #expect((400...499).contains(refused.status))
            let unavailable = try await suite.pay(PaymentOrder(from: bola, to: ada.username, 100))
            #expect(unavailable.status == 422)
            try await eventually("the wallet to be emptied") { try await suite.wallet(ada).posted == 0 }
            let waiting = """
                SELECT sum(amount) FROM transfers WHERE recipient_id = '\(ada.id)' AND route_reason = 'suspense'
                    AND state = 'completed'
                """
            #expect(try await suite.number(waiting) == 20_000)
        }

        @Test("an erased user cannot be read again anywhere, and every service goes on")
        func erased() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("vanishes", funding: 50_000)
            let bola = try await suite.person("remains", funding: 1_000)
            try await suite.addBankAccount(of: ada)
            let paid = try await suite.pay(from: ada, to: bola, 7000)
            try await suite.await(paid, "completed", within: .seconds(40))
            let path = "/transactions/\(paid.lowercased)"
            let before = try await suite.read(path, as: bola, TransactionResource.self)
            #expect(before.description == "Lunch" && before.counterpartyUsername == ada.username)

            let erase = "/internal/users/\(ada.id.lowercased)/erase"
            let order = #"{"reason":"asked for it"}"#
            // She has money: one operator is not enough.
            #expect(try await suite.operate("POST", "auth", erase, order).status == 202)
            #expect(try await suite.operate("POST", "auth", erase, order, by: "linus").status == 204)
            try await eventually("the name to be gone", within: .seconds(20), every: .milliseconds(50)) {
                let after = try await suite.read(path, as: bola, TransactionResource.self)
                return after.description == "[erased]" && after.counterpartyUsername == "[erased]"
            }
            // Money from outside still comes in, and is nobody's until somebody looks at it.
            try await suite.sandbox("POST", "/sandbox/accounts/\(ada.accountNumber)/fund", #"{"amount":2500}"#)
            try await eventually("the money to be in suspense", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.number(
                    "SELECT count(*) FROM inbound_payments WHERE user_id = '\(ada.id)' AND amount = 2500"
                ) == 1
            }
            #expect(try await suite.pay(PaymentOrder(from: bola, to: ada.username, 100)).status == 422)
            for (service, path) in [
                (ServiceName.account, "/accounts/me"), (.customer, "/beneficiaries"), (.transaction, "/transactions"),
                (.transaction, "/wallet"), (.auth, "/devices"), (.auth, "/onboarding/status"),
                (.notification, "/notifications"), (.subscription, "/subscriptions/status"),
                (.analytics, "/analytics/summary"),
            ] {
                let answer = try await suite.call("GET", service, path, as: ada.subject)
                #expect(answer.status < 500, "\(path) \(answer.text)")
                #expect(!answer.text.contains("Testperson") && !answer.text.contains(ada.accountNumber), "\(path)")
            }
            try await suite.expectNothingParked(about: ada)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a closed profile without money is erased by itself when its time is over, one with money is not")
        func retention() async throws {
            let suite = try RunningSuite.current
            let rich = try await suite.person("rich", funding: 5000)
            let poor = try await suite.person("poor")
            for person in [rich, poor] {
                #expect(try await suite.deleteAtClerk(person) == 200)
                try await suite.awaitClosed(person)
            }
            let ids = "'\(rich.id)', '\(poor.id)'"
            let back = "UPDATE users SET closed_at = closed_at - interval '5 years 2 days' WHERE id IN (\(ids))"
            try await suite.rows("auth", back)
            try await eventually("the one without money to be erased", within: .seconds(60), every: .milliseconds(200))
            {
                let sql = "SELECT id FROM users WHERE erased_at IS NOT NULL AND id IN (\(ids))"
                return try await suite.rows("auth", sql).map { $0.lowercased() } == [poor.id.lowercased]
            }
            let asked = "SELECT count(*) FROM users WHERE erasure_asked_at IS NOT NULL AND id = '\(rich.id)'"
            #expect(try await suite.number(asked, of: "auth") == 1)
            let keys = "SELECT count(*) FROM data_keys WHERE user_id = '\(poor.id)' AND wrapped IS NULL"
            #expect(try await suite.number(keys, of: "auth") == 1)
            try await suite.expectNothingParked(about: poor)
        }
    }
}

extension RunningSuite {
    /// Waits until a sign-up stands there.
    func status(of subject: String, _ word: String) async throws -> OnboardingStatusResponse {
        try await eventually("the sign-up to be \(word)", within: .seconds(30), every: .milliseconds(100)) {
            let answer = try await self.call("GET", .auth, "/onboarding/status", as: subject)
            let status = try answer.decode(OnboardingStatusResponse.self)
            return status.status == word ? status : nil
        }
    }

    /// Sends corrected details: no verdict about the old ones counts any more.
    fileprivate func correct(_ subject: String, _ details: OnboardingDetailsRequest) async throws {
        let sent = try await self.call("PUT", .auth, "/onboarding/details", as: subject, body: Self.json(details))
        guard sent.status == 200 else { throw TestFailure("the details were answered \(sent.text)") }
        let status = try await self.call("GET", .auth, "/onboarding/status", as: subject)
        guard try status.decode(OnboardingStatusResponse.self).status == "pending" else {
            throw TestFailure("after the correction: \(status.text)")
        }
    }

    /// Sends a payment that a PIN approves.
    fileprivate func payByPIN(_ payer: Person, to payee: Person, _ amount: Int64, pin: String) async throws -> Reply {
        var order = try PaymentOrder(from: payer, to: payee.username, amount)
        let hash = ApprovalText.sha256(order.body)
        let ask = ApprovalRequest(pin: pin, method: "POST", path: PaymentOrder.path, bodySha256: hash)
        let answer = try await self.call("POST", .auth, "/approvals", as: payer.subject, body: Self.json(ask))
        order.approval = "pin \(try answer.decode(ApprovalResponse.self).approvalToken)"
        return try await self.pay(order)
    }

    private struct Sent: Decodable {
        let status: Int?
    }

    /// Lets Clerk say that a user was deleted, with further members of the order; gives the status of the answer.
    fileprivate func deleteAtClerk(_ person: Person, _ more: String = "") async throws -> Int? {
        let order = #"{"subject":"\#(person.subject)"\#(more)}"#
        return try await self.sandbox("POST", "/sandbox/clerk/webhooks", order).decode(Sent.self).status
    }

    fileprivate func awaitClosed(_ person: Person) async throws {
        try await eventually("transaction to know of the closing", within: .seconds(20), every: .milliseconds(50)) {
            try await self.rows("transaction", "SELECT status FROM users WHERE id = '\(person.id)'") == ["closed"]
        }
    }

    /// No service has an event of this person that it could not handle, or a job that failed.
    fileprivate func expectNothingParked(about person: Person) async throws {
        for service in SuiteEnvironment.names {
            let parked = "SELECT count(*) FROM parked_keys WHERE subject = '\(person.id.lowercased)'"
            #expect(try await self.number(parked, of: service) == 0, "\(service)")
            let failed = "SELECT count(*) FROM jobs WHERE subject = '\(person.id.lowercased)' AND state = 'failed'"
            #expect(try await self.number(failed, of: service) == 0, "\(service)")
        }
    }
}
