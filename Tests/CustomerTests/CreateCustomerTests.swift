import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Creating the customer at the provider", .serialized)
struct CreateCustomerTests {
    private func create(_ world: CustomerWorld) async throws -> JobOutcome {
        try await world.run(CustomerJob.createCustomer, world.ada.description) { try await world.createCustomer($0) }
    }

    @Test("a complete sign-up becomes one customer, one event and one verification to start")
    func plain() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            #expect(try await self.create(world) == .done)
            #expect(world.provider.customers.count == 1)
            #expect(world.provider.customers[0].metadata == ["user_id": world.ada.description])
            #expect(try await world.said() == ["customer.created"])
            #expect(try await world.last(CustomerCreated.self)?.anchorCustomerID == world.provider.customers[0].id)
            #expect(try await world.state(of: CustomerJob.createCustomer, world.ada.description) == "done")
            #expect(try await world.state(of: CustomerJob.startVerification, world.ada.description) == "queued")
            let calls = try await world.database.psql("SELECT operation, outcome FROM provider_calls")
            #expect(calls == ["create_customer|accepted"])
        }
    }

    @Test("when the answer was lost, the next attempt finds the customer instead of making another")
    func lostAnswer() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.loseNextAnswer()
            #expect(try await self.create(world) == .again(reason: "timed out", after: nil))
            #expect(try await world.said().isEmpty)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.customers.count == 1)
            #expect(try await world.said() == ["customer.created"])
        }
    }

    @Test("'already exists' on a first attempt is looked up, and adopted only when it carries our user id")
    func alreadyExists() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.addCustomer(email: Sample.contact.email, metadata: ["user_id": world.ada.description])
            #expect(try await self.create(world) == .done)
            #expect(try await world.last(CustomerCreated.self)?.anchorCustomerID == world.provider.customers[0].id)
        }
    }

    private func standIn(_ world: CustomerWorld) -> String { CustomerWorld.standIns(world.ada) }

    @Test("an address that nobody has proven is not the provider's to know, and so bars nobody")
    func unproven() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp(isProven: false)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.emails == [self.standIn(world)])
            #expect(try await world.said() == ["customer.created"])
            // Proven in time, the provider gets it.
            try await self.provide(Sample.contact, sequence: 2, in: world)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.updates == ["\(Sample.contact.email) Okonkwo"])
        }
    }

    @Test("where the provider has somebody else under a proven address, its owner is a customer all the same, untold")
    func taken() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.addCustomer(email: Sample.contact.email, metadata: ["user_id": "somebody else"])
            world.provider.loseNextAnswer()
            #expect(try await self.create(world) == .again(reason: "timed out", after: nil))
            #expect(try await self.create(world) == .done)
            #expect(world.provider.emails == [Sample.contact.email, self.standIn(world)])
            #expect(try await world.said() == ["customer.created"])
            // A correction goes the same way.
            try await self.provide(Sample.contact, sequence: 2, in: world)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.updates == ["\(self.standIn(world)) Okonkwo"])
        }
    }

    /// Somebody else, who has a customer at the provider and whose profile is closed or is not.
    private func former(_ restriction: String, in world: CustomerWorld) async throws -> UserID {
        let former = UserID(clerkSubject: "user_ada_before")
        world.provider.addCustomer(email: Sample.contact.email, metadata: ["user_id": former.description])
        try await world.database.psql(
            """
            INSERT INTO users (id, created_at, updated_at, anchor_customer_id, restriction)
            VALUES ('\(former)', transfa_now(), transfa_now(), '\(world.provider.customers[0].id)', '\(restriction)')
            """
        )
        return former
    }

    @Test("who comes back takes over the customer of then, once the closing was heard; a verified one stays as it is")
    func takeOver() async throws {
        try await withCustomer { world in
            let former = try await self.former("none", in: world)
            let customer = world.provider.customers[0].id
            world.provider.setVerification(.approved)
            try await world.adaSignsUp(succeeds: former)
            #expect(try await self.create(world) == .again(reason: "former_self_not_closed", after: nil))
            #expect(try await world.said().isEmpty)
            try await world.database.psql("UPDATE users SET restriction = 'closed' WHERE id = '\(former)'")
            #expect(try await self.create(world) == .again(reason: "taken_over", after: .zero))
            let event = CustomerCreated(
                userID: world.ada.uuid,
                anchorCustomerID: customer,
                accountType: Open(.personal),
                succeeds: former.uuid
            )
            #expect(try await world.last(CustomerCreated.self) == event)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.emails == [Sample.contact.email] && world.provider.updates.isEmpty)
            let holders = "SELECT id FROM users WHERE anchor_customer_id = '\(customer)'"
            #expect(try await world.database.psql(holders) == [world.ada.description])
        }
    }

    @Test("a former self without a customer leaves nothing to take over")
    func nothingToTakeOver() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp(succeeds: UserID(clerkSubject: "user_nobody"))
            #expect(try await self.create(world) == .done)
            #expect(try await world.last(CustomerCreated.self)?.succeeds == nil)
        }
    }

    @Test(
        "a domain of stand-ins is a domain",
        arguments: [
            ("people.transfa.app", true), ("A.b", true), ("localhost", false), ("", false), ("a..b", false),
            ("-a.b", false),
            ("a b.c", false), ("ada@example.com", false),
        ]
    )
    func domains(text: String, isOne: Bool) {
        #expect((StandInAddress(domain: text) != nil) == isOne)
    }

    @Test("without contact details nothing is asked for until they come")
    func incomplete() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp(contact: nil)
            #expect(try await world.state(of: CustomerJob.createCustomer, world.ada.description) == nil)
            var noGender = Sample.contact
            noGender.gender = nil
            try await self.provide(noGender, sequence: 2, in: world)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.customers.isEmpty)
            #expect(try await world.state(of: CustomerJob.createCustomer, world.ada.description) == "done")
            try await self.provide(Sample.contact, sequence: 3, in: world)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.customers.count == 1)
        }
    }

    private func provide(_ contact: ContactDetails, sequence: Int64, in world: CustomerWorld) async throws {
        try await world.hear(
            UserDetailsProvided(
                userID: world.ada.uuid,
                accountType: Open(.personal),
                kycDetails: try world.sealed(Sample.person, "kyc_details"),
                contactDetails: try world.sealed(contact, "contact_details"),
                emailVerified: true
            ),
            sequence: sequence
        )
    }

    @Test("details that arrive while the job runs are not overlooked")
    func detailsDuringTheJob() async throws {
        try await withCustomer { world in
            var noGender = Sample.contact
            noGender.gender = nil
            try await world.adaSignsUp(contact: noGender)
            let outcome = try await world.run(CustomerJob.createCustomer, world.ada.description) { job in
                // The job has read the old details when the event is handled; the event finds it running.
                let old = try #require(try await world.users.find(world.ada, as: nil, on: world.work))
                try await self.provide(Sample.contact, sequence: 2, in: world)
                return try await world.createCustomer.waitForDetails(job, user: old)
            }
            #expect(outcome == .again(reason: "details_changed", after: .zero))
            #expect(try await self.create(world) == .done)
            #expect(world.provider.customers.count == 1)
        }
    }

    @Test("an erased user is nobody's customer")
    func erased() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.keys.erase(world.ada)
            #expect(try await self.create(world) == .cancelled(reason: "erased"))
            #expect(world.provider.customers.isEmpty)
        }
    }

    @Test("a refusal of the details ends the job and is told to the user; corrected details run it again")
    func refusal() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.refuseNext(.refused(status: 400, title: "Bad Request", code: .invalidPhoneNumber))
            #expect(try await self.create(world) == .done)
            #expect(try await world.last(CustomerDetailsRefused.self)?.reason == "phone_invalid")
            var contact = Sample.contact
            contact.phone = "08031234568"
            try await self.provide(contact, sequence: 2, in: world)
            #expect(try await self.create(world) == .done)
            #expect(try await world.said() == ["customer.details_refused", "customer.created"])
        }
    }

    @Test("corrected details replace those at the provider before it judges again; what is verified stays")
    func correction() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            #expect(try await self.create(world) == .done)
            var contact = Sample.contact
            contact.email = "ada@example.com"
            try await self.provide(contact, sequence: 2, in: world)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.updates == ["ada@example.com Okonkwo"])
            #expect(world.provider.customers.count == 1)

            // The provider has decided, and the news of it is on the way.
            world.provider.setVerification(.approved)
            try await self.provide(Sample.contact, sequence: 3, in: world)
            #expect(try await self.create(world) == .done)
            #expect(world.provider.updates == ["ada@example.com Okonkwo"])
            #expect(try await world.said() == ["customer.created"])
        }
    }

    @Test("details that are corrected while the customer is made are sent too")
    func correctionDuringTheJob() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            var contact = Sample.contact
            contact.email = "ada@example.com"
            let corrected = contact
            let outcome = try await world.run(CustomerJob.createCustomer, world.ada.description) { job in
                world.provider.onNextCreation { try? await self.provide(corrected, sequence: 2, in: world) }
                return try await world.createCustomer(job)
            }
            #expect(outcome == .again(reason: "details_changed", after: .zero))
            #expect(try await self.create(world) == .done)
            #expect(world.provider.updates == ["ada@example.com Okonkwo"])
            #expect(try await world.said() == ["customer.created"])
        }
    }

    @Test("an outage and a missing key do not end a job, a refusal that other details would not mend does")
    func errors() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.refuseNext(.refused(status: 400, title: "Bad Request", code: .productNotAllowed))
            #expect(try await self.create(world) == .failed(reason: "refused_product_not_allowed"))
        }
        #expect(JobOutcome(.rateLimited(retryAfter: .seconds(7))) == .again(reason: "rate_limited", after: .seconds(7)))
        #expect(JobOutcome(.unauthorised) == .again(reason: "unauthorised", after: .seconds(60)))
        #expect(JobOutcome(.unavailable(status: 503)) == .again(reason: "unavailable 503", after: nil))
        #expect(JobOutcome(.notFound) == .failed(reason: "not_found_at_provider"))
    }

    @Test("a verification whose answer was lost is not started twice, a rejected one is started again")
    func verification() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            #expect(try await self.create(world) == .done)
            world.provider.loseNextAnswer()
            let start = { (world: CustomerWorld) in
                try await world.run(CustomerJob.startVerification, world.ada.description) {
                    try await world.startVerification($0)
                }
            }
            #expect(try await start(world) == .again(reason: "timed out", after: nil))
            #expect(try await start(world) == .done)
            #expect(world.provider.verificationsStarted.count == 1)
            world.provider.setVerification(.rejected)
            try await self.provide(Sample.contact, sequence: 2, in: world)
            #expect(try await self.create(world) == .done)
            #expect(try await start(world) == .done)
            #expect(world.provider.verificationsStarted.count == 2)
            #expect(try await world.said() == ["customer.created"])
        }
    }

    @Test("a merchant becomes a business")
    func merchant() async throws {
        try await withCustomer { world in
            try await world.adaOpensShop()
            #expect(try await self.create(world) == .done)
            #expect(world.provider.customers.map(\.kind) == [.business])
            #expect(try await world.last(CustomerCreated.self)?.accountType == .known(.merchant))
        }
    }
}
