import Contracts
import Foundation
import NIOHTTP1
import Primitives
import TestSupport
import Testing

extension Faults {
    @Suite struct BankTests {
        @Test("the list of banks has a tag, and is answered as it was while the provider is away")
        func banks() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("bankada")
            let first = try await suite.call("GET", .customer, "/banks", as: ada.subject)
            #expect(first.status == 200)
            let banks = try first.decode(BankList.self).data
            #expect(banks.contains { $0.code == "000013" && $0.name == "Guaranty Trust Bank" })
            #expect(banks.map { $0.name.lowercased() } == banks.map { $0.name.lowercased() }.sorted())
            let tag = try #require(first.header("ETag"))
            let same = try await suite.call(
                "GET",
                .customer,
                "/banks",
                as: ada.subject,
                headers: ["If-None-Match": tag]
            )
            #expect(same.status == 304 && same.text.isEmpty && same.header("ETag") == tag)

            try await suite.goWrong(#"{"fault":"status=503","path":"/api/v1/banks"}"#)
            try await suite.rows(
                "customer",
                """
                UPDATE jobs SET state = 'queued', due_at = transfa_now(), last_error = NULL, finished_at = NULL
                WHERE kind = 'refresh_banks'
                """
            )
            let failed = "SELECT count(*) FROM jobs WHERE kind = 'refresh_banks' AND last_error IS NOT NULL"
            try await eventually("the provider to be asked in vain", within: .seconds(20), every: .milliseconds(20)) {
                try await suite.number(failed, of: "customer") == 1
            }
            let stale = try await suite.call("GET", .customer, "/banks", as: ada.subject)
            #expect(stale.status == 200 && stale.header("ETag") == tag)
            let healed = "SELECT count(*) FROM jobs WHERE kind = 'refresh_banks' AND state = 'done'"
            try await eventually("the provider to be asked again", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.number(healed, of: "customer") == 1
            }
        }

        @Test("the name behind an account is answered at once, or at its place when the bank takes longer")
        func enquiry() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("nameada")
            let path = "/beneficiaries/verify"
            let ask = { (number: String) in
                let body = try RunningSuite.json(BeneficiaryRequest(accountNumber: number, bankCode: "000013"))
                return try await suite.call("POST", .customer, path, as: ada.subject, body: body)
            }
            let found = try await ask("0123456789")
            #expect(found.status == 200)
            let enquiry = try found.decode(EnquiryResource.self)
            #expect(enquiry.accountName?.contains("TESTPERSON") == true && enquiry.accountNumber == "******6789")
            let nobody = try await ask("0123450000")
            #expect(nobody.status == 422 && nobody.error?.code == "account_not_found")

            try await suite.goWrong(#"{"fault":"delay=5000","path":"/api/v1/payments/verify-account"}"#)
            let slow = try await ask("0123456780")
            #expect(slow.status == 202)
            let place = try #require(slow.header("Location"))
            let stranger = try await suite.person("nameeve")
            #expect(try await suite.call("GET", .customer, place, as: stranger.subject).status == 404)
            try await eventually("the bank's answer", within: .seconds(20), every: .milliseconds(200)) {
                try await suite.call("GET", .customer, place, as: ada.subject).status == 200
            }
            // Nothing was added by asking.
            let list = try await suite.call("GET", .customer, "/beneficiaries", as: ada.subject)
            #expect(list.text == #"{"data":[]}"#)
        }

        @Test("a correction of the free transfers reaches the count that decides, once per id")
        func correction() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("usageada")
            let path = "/internal/subscriptions/increment-usage"
            let id = UUID().lowercased
            let order = #"{"user_id":"\#(ada.id.lowercased)","adjustment_id":"\#(id)","delta":5,"reason":"made up"}"#
            for _ in 0..<3 { #expect(try await suite.operate("POST", "subscription", path, order).status == 202) }
            let other = order.replacingOccurrences(of: "5,", with: "1,")
            #expect(try await suite.operate("POST", "subscription", path, other).status == 409)
            try await eventually("the status to follow", within: .seconds(20), every: .milliseconds(100)) {
                let answer = try await suite.call("GET", .subscription, "/subscriptions/status", as: ada.subject)
                return try answer.decode(SubscriptionStatus.self).externalTransfersUsed == 5
            }
            // All five are used: the next payment goes to the wallet.
            try await suite.addBankAccount(of: ada)
            let payer = try await suite.person("usagepayer", funding: 1000)
            let paid = try await suite.pay(PaymentOrder(from: payer, to: ada.username, 100))
            #expect(try paid.decode(P2PResponse.self).route == "internal")
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    fileprivate func goWrong(_ rule: String) async throws {
        let answer = try await self.sandbox("POST", "/sandbox/faults", rule)
        guard (200..<300).contains(answer.status) else { throw TestFailure("the rule was answered \(answer.text)") }
    }
}
