import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct ProfileTests {
        @Test("a profile shows what passed between the two, page by page, and a search finds its owner")
        func profile() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("seen", funding: 50_000)
            let bola = try await suite.person("sees", funding: 50_000)
            let chi = try await suite.person("looks")
            let sent = [try await suite.pay(from: bola, to: ada, 1500), try await suite.pay(from: ada, to: bola, 700)]
            for id in sent { try await suite.await(id, "completed", within: .seconds(40)) }
            let path = "/users/\(ada.username.uppercased())"
            let whole = try await eventually("both payments", within: .seconds(20), every: .milliseconds(100)) {
                let seen = try await suite.profile(path, as: bola)
                return seen.transactionHistory.allSatisfy { $0.state == "completed" }
                    && seen.transactionHistory.count == 2 ? seen : nil
            }
            #expect(whole.username == ada.username && whole.accountType == "personal" && whole.nextCursor == nil)
            #expect(whole.transactionHistory.map(\.id) == sent.reversed())
            #expect(whole.transactionHistory.map(\.direction) == ["in", "out"])
            #expect(whole.transactionHistory.map(\.amount) == [700, 1500])
            let first = try await suite.profile(path + "?limit=1", as: bola)
            let cursor = try #require(first.nextCursor)
            let second = try await suite.profile(path + "?limit=1&cursor=\(cursor)", as: bola)
            #expect((first.transactionHistory + second.transactionHistory).map(\.id) == sent.reversed())
            #expect(second.nextCursor == nil)
            #expect(try await suite.profile(path, as: chi).transactionHistory.isEmpty)

            let query = "/users?query=%40\(ada.username.prefix(8))"
            let found = try await suite.call("GET", .customer, query, as: bola.subject).decode(ProfileList.self)
            #expect(found.data.map(\.username).contains(ada.username))
            let order = "/internal/users/\(ada.id.lowercased)/restriction"
            let closing = #"{"restriction":"closed","reason":"a_test"}"#
            #expect(try await suite.operate("PUT", "customer", order, closing).status == 204)
            let lifting = #"{"restriction":"none","reason":"a_test"}"#
            let lifted = try await suite.operate("PUT", "customer", order, lifting)
            #expect(lifted.status == 409 && lifted.error?.code == "profile_closed")
            try await eventually("the sign-up to be closed", within: .seconds(20), every: .milliseconds(50)) {
                try await suite.call("GET", .auth, "/onboarding/status", as: ada.subject).status == 403
            }
            let looking = try await suite.call("GET", .customer, "/users/\(bola.username)", as: ada.subject)
            #expect(looking.status == 403 && looking.error?.code == "profile_closed")
            // Who never signed up looks nobody up either.
            for path in [query, path] {
                let stranger = try await suite.call("GET", .customer, path, as: "user_system_nobody_\(ada.username)")
                #expect(stranger.status == 409 && stranger.error?.code == "not_onboarded")
            }
            #expect(try await suite.call("GET", .customer, path, as: bola.subject).status == 404)
            let left = try await suite.call("GET", .customer, query, as: bola.subject).decode(ProfileList.self)
            #expect(!left.data.map(\.username).contains(ada.username))
        }

        @Test("settings take effect: who may not be asked is not asked, and a receive-only merchant only withdraws")
        func settings() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("chooses", funding: 50_000)
            let bola = try await suite.person("wants", funding: 50_000)
            #expect(
                try await suite.choose(SettingsRequest(whoMayRequest: "contacts"), as: ada).whoMayRequest == "contacts"
            )
            let read = try await suite.call("GET", .customer, "/users/me/settings", as: ada.subject)
            #expect(try read.decode(SettingsResource.self).whoMayRequest == "contacts")
            let order = try RunningSuite.json(PaymentRequestRequest(amount: 100, payerUsername: ada.username))
            try await suite.transactionKnows("request_policy = 'contacts'", of: ada)
            let refused = try await suite.change("/payment-requests", as: bola, order)
            #expect(refused.status == 422 && refused.error?.code == "requests_not_accepted")
            #expect(refused.error?.source?.pointer == "/payer_username")
            let paid = try await suite.pay(from: bola, to: ada, 100)
            try await suite.await(paid, "completed", within: .seconds(40))
            #expect(try await suite.change("/payment-requests", as: bola, order).status == 201)

            let body = try RunningSuite.json(SettingsRequest(allowSending: false))
            let personal = try await suite.call("PUT", .customer, "/users/me/settings", as: ada.subject, body: body)
            #expect(personal.status == 422 && personal.error?.code == "merchants_only")
            // The account of a merchant: what is tested is the setting's way into the ledger, not the sign-up.
            try await suite.rows("customer", "UPDATE users SET account_type = 'merchant' WHERE id = '\(ada.id)'")
            #expect(try await suite.choose(SettingsRequest(allowSending: false), as: ada).allowSending == false)
            try await suite.transactionKnows("NOT sending_allowed", of: ada)
            let stopped = try await suite.pay(PaymentOrder(from: ada, to: bola.username, 100))
            #expect(stopped.status == 403 && stopped.error?.code == "receive_only")

            try await suite.addBankAccount(of: ada)
            let own = "SELECT id FROM beneficiaries WHERE user_id = '\(ada.id)'"
            let bank = try #require(UUID(text: try await suite.rows("transaction", own)[0]))
            let withdrawal = SelfTransferRequest(beneficiaryID: bank, amount: 20_000)
            let settled = try await suite.order("/transactions/self-transfer", as: ada, withdrawal)
            #expect(settled.status == 202)
            let transfer = try settled.decode(SelfTransferResponse.self).transactionID
            try await suite.await(transfer, "completed", within: .seconds(40))
            #expect(try await suite.wallet(ada).posted == 30_100)
        }
    }
}

extension RunningSuite {
    fileprivate func profile(_ path: String, as reader: Person) async throws -> ProfileResource {
        try await self.call("GET", .customer, path, as: reader.subject).decode(ProfileResource.self)
    }

    /// Waits until the ledger's service has heard of a choice.
    fileprivate func transactionKnows(_ condition: String, of person: Person) async throws {
        let sql = "SELECT count(*) FROM users WHERE id = '\(person.id)' AND \(condition)"
        try await eventually("transaction to know", within: .seconds(20), every: .milliseconds(50)) {
            try await self.number(sql) == 1
        }
    }

    fileprivate func choose(_ change: SettingsRequest, as person: Person) async throws -> SettingsResource {
        let body = try Self.json(change)
        return try await self.call("PUT", .customer, "/users/me/settings", as: person.subject, body: body)
            .decode(SettingsResource.self)
    }
}
