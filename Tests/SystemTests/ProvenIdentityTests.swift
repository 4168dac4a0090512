import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct ProvenIdentityTests {
        @Test(
            "who writes somebody's e-mail address first does not have it: its owner signs up, and nobody learns anything"
        )
        func squatting() async throws {
            let suite = try RunningSuite.current
            let run = String(Int.random(in: 1_000_000...9_999_999))
            let other = String(Int.random(in: 1_000_000...9_999_999))
            let address = "own\(run)@example.com"
            var first = RunningSuite.signUp(username: "squa\(run)", run: run)
            first.contactDetails?.email = address
            #expect(try await suite.signUp("user_system_squa\(run)", first) == 201)
            _ = try await suite.status(of: "user_system_squa\(run)", "approved")

            var owner = RunningSuite.signUp(username: "own\(run)", run: other)
            owner.contactDetails?.email = address
            #expect(try await suite.signUp("user_system_own\(run)", owner, more: #","email":"\#(address)""#) == 201)
            let standing = try await suite.status(of: "user_system_own\(run)", "approved")
            #expect(standing.reason == nil)
            // Who has only written it down is as far as everybody, whoever else has it.
            let squatter = try await suite.status(of: "user_system_squa\(run)", "approved")
            #expect(squatter.reason == nil)
            for name in ["squa", "own"] {
                try await suite.awaitWallet(of: "user_system_\(name)\(run)")
            }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test(
            "a sign-in that Clerk has deleted signs up nowhere, whatever Clerk still says of it, and its names stay free"
        )
        func tombstone() async throws {
            let suite = try RunningSuite.current
            let run = String(Int.random(in: 1_000_000...9_999_999))
            let subject = "user_system_gone\(run)"
            let order = RunningSuite.signUp(username: "gone\(run)", run: run)
            let address = try #require(order.contactDetails?.email)
            // A token from before.
            let token = try await suite.token(of: subject, more: "")
            #expect(try await suite.tellClerk(subject, #","type":"user.deleted""#) == 200)
            #expect(try await suite.tellClerk(subject, #","type":"user.updated","emails":["\#(address)"]"#) == 200)
            let refused = try await suite.send(
                "POST",
                suite.environment.publicURL("auth") + "/onboarding",
                headers: ["Authorization": "Bearer \(token)"],
                body: RunningSuite.json(order)
            )
            #expect(refused.status == 403 && refused.error?.code == "sign_in_deleted")
            let id = UserID(clerkSubject: subject)
            #expect(try await suite.number("SELECT count(*) FROM users WHERE id = '\(id)'", of: "auth") == 0)
            #expect(try await suite.signUp("user_system_here\(run)", order) == 201)
            _ = try await suite.status(of: "user_system_here\(run)", "approved")
        }

        @Test("who left comes back with a new sign-in as the same customer of the provider, and gets a wallet anew")
        func returning() async throws {
            let suite = try RunningSuite.current
            let run = String(Int.random(in: 1_000_000...9_999_999))
            let (old, new) = ("user_system_left\(run)", "user_system_back\(run)")
            var order = RunningSuite.signUp(username: "left\(run)", run: run)
            let proof = #","email":"\#(try #require(order.contactDetails?.email))""#
            #expect(try await suite.signUp(old, order, more: proof) == 201)
            try await suite.awaitWallet(of: old)
            let customer = try await suite.customer(of: old)
            #expect(try await suite.tellClerk(old, "") == 200)
            order.username = "back\(run)"
            #expect(try await suite.signUp(new, order, more: proof) == 201)
            _ = try await suite.status(of: new, "approved")
            try await suite.awaitWallet(of: new)
            #expect(try await suite.customer(of: new) == customer)
            #expect(try await suite.customer(of: old) == ["none"])
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// Signs somebody up with a token that says more; gives the status.
    fileprivate func signUp(_ subject: String, _ order: OnboardingRequest, more: String = "") async throws -> Int {
        let token = try await self.token(of: subject, more: more)
        let url = self.environment.publicURL("auth") + "/onboarding"
        let headers = ["Authorization": "Bearer \(token)"]
        return try await self.send("POST", url, headers: headers, body: Self.json(order)).status
    }

    private struct Sent: Decodable {
        let status: Int?
    }

    /// Lets Clerk say something about a subject; gives the status of the answer.
    fileprivate func tellClerk(_ subject: String, _ more: String) async throws -> Int? {
        let order = #"{"subject":"\#(subject)"\#(more)}"#
        return try await self.sandbox("POST", "/sandbox/clerk/webhooks", order).decode(Sent.self).status
    }

    fileprivate func awaitWallet(of subject: String) async throws {
        try await eventually("the wallet", within: .seconds(30), every: .milliseconds(100)) {
            let answer = try await self.call("GET", .account, "/accounts/me", as: subject)
            return try answer.status == 200 && answer.decode(AccountResource.self).status == "open"
        }
    }

    /// The provider's id of a customer; "none" where there is none.
    fileprivate func customer(of subject: String) async throws -> [String] {
        let id = UserID(clerkSubject: subject)
        return try await self.rows(
            "customer",
            "SELECT coalesce(anchor_customer_id, 'none') FROM users WHERE id = '\(id)'"
        )
    }
}
