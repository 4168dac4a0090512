import Contracts
import Messaging
import Primitives
import ServiceTestSupport
import Testing

@testable import AuthService

@Suite("The status of a sign-up", .serialized)
struct OnboardingStatusTests {
    private func status(in world: AuthWorld) async throws -> OnboardingStatusResponse {
        OnboardingStatusResponse(try #require(try await world.users.find(world.ada, on: world.requests)))
    }

    private func correct(_ contact: ContactDetails = Sample.contact, in world: AuthWorld) async throws {
        let provide = ProvideDetails(users: world.users, vault: world.vault, index: try world.index)
        let today = LagosCalendar.day(of: world.clock.now)
        _ = try await world.asUser(world.ada) { transaction in
            let request = OnboardingDetailsRequest(contactDetails: contact)
            return try await provide(request, user: world.ada, clerkSubject: "user_ada", today: today, in: transaction)
        }
    }

    private func verdict(
        _ status: String,
        _ reason: String? = nil,
        sequence: Int64,
        in world: AuthWorld
    ) async throws {
        let event = CustomerRejected(
            userID: world.ada.uuid,
            anchorCustomerID: "1-anc_ind_cst",
            status: Open(status),
            reason: reason
        )
        try await world.hear(event, sequence: sequence)
    }

    @Test("it follows what the provider says, in words of ours")
    func words() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada", contact: nil))
            #expect(try await self.status(in: world).status == "awaiting_details")
            try await self.correct(in: world)
            #expect(try await self.status(in: world).status == "pending")
            var sequence: Int64 = 0
            for (word, shown) in [
                ("awaiting_document", "awaiting_document"), ("manual_review", "manual_review"), ("error", "rejected"),
                ("rejected", "rejected"), ("a_word_of_tomorrow", "pending"),
            ] {
                sequence += 1
                try await self.verdict(word, sequence: sequence, in: world)
                let found = try await self.status(in: world)
                #expect(found.status == shown)
                #expect((found.reason != nil) == (shown == "rejected"))
            }
            let verified = CustomerVerified(userID: world.ada.uuid, anchorCustomerID: "1-anc_ind_cst")
            try await world.hear(verified, sequence: 9)
            #expect(
                try await self.status(in: world)
                    == OnboardingStatusResponse(
                        userID: world.ada.uuid,
                        username: "ada",
                        accountType: "personal",
                        status: "approved"
                    )
            )
        }
    }

    @Test("a rejection says why, and corrected details are pending again until the next verdict")
    func resubmission() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await self.verdict("rejected", "reenter_information", sequence: 1, in: world)
            let rejected = try await self.status(in: world)
            #expect(rejected.status == "rejected" && rejected.reason?.code == "reenter_information")
            #expect(rejected.reason?.detail == RejectionReason.reenterInformation.sentence)
            try await self.correct(in: world)
            #expect(try await self.status(in: world).status == "pending")
            try await self.verdict("rejected", "a_reason_of_tomorrow", sequence: 2, in: world)
            #expect(try await self.status(in: world).reason?.code == "details_mismatch")
        }
    }

    @Test("details that the provider did not take are rejected, unless others have been sent since")
    func refusal() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let old = CustomerDetailsRefused(userID: world.ada.uuid, reason: "details_refused", detailsSequence: 1)
            try await world.hear(old, sequence: 1)
            #expect(try await self.status(in: world).reason?.code == "details_refused")
            try await self.correct(in: world)
            #expect(try await self.status(in: world).status == "pending")
            // The refusal of the first details once more, late.
            try await world.hear(old, sequence: 2)
            #expect(try await self.status(in: world).status == "pending")
            let new = CustomerDetailsRefused(userID: world.ada.uuid, reason: "phone_invalid", detailsSequence: 2)
            try await world.hear(new, sequence: 3)
            #expect(try await self.status(in: world).reason?.code == "phone_invalid")
        }
    }

    @Test("each reason tells a person what to do")
    func sentences() {
        for reason in RejectionReason.allCases {
            #expect(reason.sentence.hasSuffix(".") && reason.sentence.contains(" "), "\(reason)")
        }
        #expect(Set(RejectionReason.allCases.map(\.sentence)).count == RejectionReason.allCases.count)
    }
}
