import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import Testing

@testable import AuthService

@Suite("What the identity provider has verified", .serialized)
struct SignInTests {
    private func token(_ email: String? = nil, phone: String? = nil, at seconds: Double) -> VerifiedContact {
        VerifiedContact(email: email, phone: phone, saidAt: Date(timeIntervalSince1970: seconds))
    }

    private func tell(
        _ subject: String,
        _ emails: [String],
        phones: [String] = [],
        at milliseconds: Int64,
        in world: AuthWorld
    ) async throws {
        let facts = ClerkMessage.VerifiedFacts(
            subject: subject,
            emails: emails,
            phones: phones,
            changedAt: milliseconds
        )
        try await world.takeClerkMessage(.userTold(facts), id: world.ids.next().uuidString, cause: Cause())
    }

    private func delete(_ subject: String, in world: AuthWorld) async throws {
        let id = world.ids.next().uuidString
        try await world.takeClerkMessage(.userDeleted(subject: subject), id: id, cause: Cause())
    }

    private func verified(_ subject: String, in world: AuthWorld) async throws -> SignIn {
        try await world.work.transaction(cause: Cause()) { transaction in
            try await SignInStore().find(UserID(clerkSubject: subject), in: transaction)
        }
    }

    private func created(in world: AuthWorld) async throws -> [UserCreated] { try await world.said(UserCreated.self) }

    // MARK: Reading

    @Test("of a user only what is verified is read, and nothing without a time")
    func messages() {
        let body = #"""
            {"type":"user.updated","data":{"id":"user_ada","updated_at":1700000000123,
            "email_addresses":[
            {"email_address":"ada@example.com","verification":{"status":"verified"}},
            {"email_address":"own@example.com","verification":{"status":"unverified"}},
            {"email_address":"none@example.com","verification":null}],
            "phone_numbers":[{"phone_number":"+2340000000001","verification":{"status":"verified"}}]}}
            """#
        let facts = ClerkMessage.VerifiedFacts(
            subject: "user_ada",
            emails: ["ada@example.com"],
            phones: ["+2340000000001"],
            changedAt: 1_700_000_000_123
        )
        #expect(ClerkMessage(parsing: Array(body.utf8)) == .userTold(facts))
        let created = body.replacing("user.updated", with: "user.created")
        #expect(ClerkMessage(parsing: Array(created.utf8)) == .userTold(facts))
        let timeless = body.replacing("updated_at", with: "seen_at")
        #expect(ClerkMessage(parsing: Array(timeless.utf8)) == .other)
    }

    @Test(
        "a number of Nigeria is one number, however it is written; others are their digits",
        arguments: [
            ("+2348030000001", "08030000001"), ("+234 803 000 0001", "08030000001"), ("2348030000001", "08030000001"),
            ("0803-000-0001", "08030000001"), ("+447700900001", "447700900001"), ("+23480300", "23480300"),
        ]
    )
    func numbers(written: String, kept: String) throws {
        #expect(VerifiedMarks.national(written) == kept)
    }

    // MARK: Proof

    @Test("an address that is not verified is told of as such, and holds nobody up who has it verified")
    func squatting() async throws {
        try await withAuth { world in
            try await world.onboard("user_squa", Sample.personal("squa"))
            try await world.onboard(
                "user_own",
                Sample.personal("own1"),
                verified: self.token(" Adaeze@Example.com", at: 1_700_000_000)
            )
            #expect(try await self.created(in: world).map(\.emailVerified) == [false, true])
        }
    }

    @Test("what a message has told before sign-up counts then, and a later proof is passed on once")
    func proofByMessage() async throws {
        try await withAuth { world in
            try await self.tell("user_bola", [Sample.contact.email], at: 10, in: world)
            try await world.onboard("user_bola", Sample.personal("bola"))
            #expect(try await self.created(in: world).map(\.emailVerified) == [true])

            try await world.onboard("user_ada", Sample.personal("ada"))
            try await self.tell("user_ada", ["other@example.com"], at: 10, in: world)
            #expect(try await world.said(about: world.ada).map(\.type) == ["user.created"])
            for time in [20, 30] as [Int64] {
                try await self.tell("user_ada", ["other@example.com", Sample.contact.email], at: time, in: world)
            }
            #expect(try await world.said(about: world.ada).map(\.type) == ["user.created", "user.details_provided"])
            let event = try #require(try await world.said(UserDetailsProvided.self).last)
            #expect(event.emailVerified == true && event.kycDetails != nil)
        }
    }

    @Test("what the provider has verified is not sent again because an address was proven")
    func approved() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.hear(CustomerVerified(userID: world.ada.uuid, anchorCustomerID: "1"), sequence: 1)
            try await self.tell("user_ada", [Sample.contact.email], at: 10, in: world)
            #expect(try await world.said(about: world.ada).map(\.type) == ["user.created"])
        }
    }

    @Test("of messages and tokens the newest counts, in whatever order they come")
    func order() async throws {
        try await withAuth { world in
            let index = try world.index
            let (one, two) = (
                VerifiedMarks.email("one@example.com", index), VerifiedMarks.email("two@example.com", index)
            )
            try await self.tell("user_ada", ["two@example.com"], at: 2_000_000, in: world)
            try await self.tell("user_ada", ["one@example.com"], at: 1_000_000, in: world)
            #expect(try await self.verified("user_ada", in: world).verified == [two])
            // A token from before the message says nothing any more, one from after it adds to it.
            try await world.onboard(
                "user_ada",
                Sample.personal("ada"),
                verified: self.token("one@example.com", at: 1500)
            )
            #expect(try await self.verified("user_ada", in: world).verified == [two])
            let provide = ProvideDetails(users: world.users, vault: world.vault, index: index)
            let today = LagosCalendar.day(of: world.clock.now)
            _ = try await world.asUser(world.ada) { transaction in
                try await provide(
                    OnboardingDetailsRequest(contactDetails: Sample.contact),
                    user: world.ada,
                    clerkSubject: "user_ada",
                    contact: self.token("one@example.com", at: 2500),
                    today: today,
                    in: transaction
                )
            }
            #expect(try await self.verified("user_ada", in: world).verified == [one, two])
            try await self.tell("user_ada", ["two@example.com"], at: 3_000_000, in: world)
            #expect(try await self.verified("user_ada", in: world).verified == [two])
        }
    }

    // MARK: Tombstones

    @Test("a sign-in that was deleted signs nobody up, whatever comes after it, and all services are told once")
    func tombstone() async throws {
        try await withAuth { world in
            for _ in 0..<2 { try await self.delete("user_ada", in: world) }
            try await self.tell("user_ada", [Sample.contact.email], at: 10, in: world)
            await #expect(throws: AuthError.signInDeleted) {
                try await world.onboard(
                    "user_ada",
                    Sample.personal("ada"),
                    verified: self.token(Sample.contact.email, at: 4_000_000_000)
                )
            }
            #expect(try await self.verified("user_ada", in: world) == SignIn(verified: [], isDeleted: true))
            #expect(try await world.said() == ["user.closed"])
            #expect(try await world.count("users") == 0)
            // The name is still free.
            try await world.onboard("user_bola", Sample.personal("ada"))
        }
    }

    @Test("of a sign-up and a deletion at the same moment nothing goes on, whichever is first")
    func atOnce() async throws {
        try await withAuth { world in
            for number in 0..<8 {
                let subject = "user_\(number)"
                async let signUp: OnboardingResponse? = try? world.onboard(subject, Sample.personal("person\(number)"))
                async let deletion: Void = self.delete(subject, in: world)
                _ = try await (signUp, deletion)
                #expect(try await world.users.find(UserID(clerkSubject: subject), on: world.work) == nil)
            }
            #expect(try await Set(world.said(UserClosed.self).map(\.userID)).count == 8)
        }
    }
}
