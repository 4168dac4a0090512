import Contracts
import EventLoops
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Bank accounts in the name of who was identified", .serialized)
struct NameCheckTests {
    @Test("an account in somebody else's name is rejected, and nothing is registered at the provider")
    func otherName() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let found = try await world.addChecked("0123456789", holder: "BAYO OKONKWO")
            #expect(found.status == .rejected && found.rejectReason == .nameMismatch)
            #expect(world.provider.counterpartyCount == 0)
            #expect(try await world.said().isEmpty)
        }
    }

    private func correct(_ name: String, sequence: Int64, in world: CustomerWorld) async throws {
        var person = Sample.person
        person.fullName = name
        try await world.hear(
            UserDetailsProvided(
                userID: world.ada.uuid,
                accountType: Open(.personal),
                kycDetails: try world.sealed(person, "kyc_details"),
                contactDetails: try world.sealed(Sample.contact, "contact_details")
            ),
            sequence: sequence
        )
    }

    @Test("details that are corrected while the bank is asked are those that its answer is compared with")
    func correctedMeanwhile() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.addAccount("0123456789", holder: "ADAEZE OKONKWO")
            let added = try await world.add("0123456789")
            world.provider.onNextEnquiry { try? await self.correct("Bayo Okonkwo", sequence: 2, in: world) }
            #expect(try await world.verify(added) == .again(reason: "details_changed", after: .zero))
            let asked = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(asked?.status == .pending)
            #expect(try await world.verify(added) == .done)
            let found = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(found?.rejectReason == .nameMismatch)
            #expect(try await world.said().isEmpty)
        }
    }

    private func decide(
        _ beneficiary: Beneficiary,
        _ decision: DecideBeneficiary.Decision,
        in world: CustomerWorld
    ) async throws {
        let decide = DecideBeneficiary(users: world.users, beneficiaries: world.beneficiaries)
        try await world.work.transaction(cause: Cause()) { transaction in
            try await decide(beneficiary.id, decision, by: .grace, in: transaction)
        }
    }

    private func reviews(in world: CustomerWorld) async throws -> [UUID] {
        let last = UUID(uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255))
        return try await world.beneficiaries.reviews(before: last, limit: 10, on: world.work).map(\.id)
    }

    @Test("people look at a name that may be the user's; what they accept is registered, once, and is in the audit")
    func accepted() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let added = try await world.addChecked("0123456789", holder: "ADAEZE OKONKW")
            #expect(added.status == .review && added.accountName != nil)
            #expect(world.provider.counterpartyCount == 0)
            #expect(try await self.reviews(in: world) == [added.id])
            #expect(try await world.said().isEmpty)

            try await self.decide(added, .accept, in: world)
            await #expect(throws: CustomerError.beneficiaryNotInReview) {
                try await self.decide(added, .reject, in: world)
            }
            #expect(try await world.verify(added) == .done)
            let found = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(found?.status == .verified && found?.isDefault == true)
            #expect(try await world.last(BeneficiaryAdded.self)?.beneficiaryID == added.id)
            #expect(try await self.reviews(in: world) == [])
            let acts = try await world.database.psql("SELECT act FROM audit_log WHERE act = 'beneficiary.name_decided'")
            #expect(acts.count == 1)
        }
    }

    @Test("another holder than the one that was accepted is looked at again, and what people reject is rejected")
    func holderChanged() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let added = try await world.addChecked("0123456789", holder: "ADAEZE OKONKW")
            try await self.decide(added, .accept, in: world)
            world.provider.addAccount("0123456789", holder: "ADAEZ OKONKWO")
            #expect(try await world.verify(added) == .done)
            let again = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(again?.status == .review && again?.isNameAccepted == false)

            try await self.decide(added, .reject, in: world)
            let found = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(found?.status == .rejected && found?.rejectReason == .nameMismatch)
            #expect(world.provider.counterpartyCount == 0)
        }
    }

    @Test("who corrects the details while people look, or after they looked, is compared anew")
    func correctedInReview() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let added = try await world.addChecked("0123456789", holder: "ADAEZE OKONKW")
            try await self.decide(added, .accept, in: world)
            try await self.correct("Adaeze Okonkwu", sequence: 2, in: world)
            let compared = try await world.run(CustomerJob.compareNames, world.ada.description) {
                try await world.compareNames($0)
            }
            #expect(compared == .done)
            #expect(try await world.verify(added) == .done)
            let found = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(found?.status == .review)
        }
    }

    @Test("details that are corrected while names are compared are compared too")
    func correctedAgain() async throws {
        /// Has the details corrected once, before the first key is handed out.
        struct Meanwhile: DataKeys {
            let keys: InMemoryDataKeys
            let body = Locked<(@Sendable () async throws -> Void)?>(nil)

            func key(for user: UserID) async throws -> DataKey? {
                try await self.body.withLock { $0.take() }?()
                return try await self.keys.key(for: user)
            }
        }
        try await withCustomer { world in
            try await world.adaSignsUp()
            let bank = try await world.addVerified("0123456789")
            let keys = Meanwhile(keys: world.keys)
            keys.body.withLock { $0 = { try await self.correct("Bayo Okonkwo", sequence: 3, in: world) } }
            try await self.correct("Adaeze Okonkwo", sequence: 2, in: world)
            let compare = CompareNames(
                database: world.work,
                users: world.users,
                beneficiaries: world.beneficiaries,
                keys: keys,
                nameLengths: CustomerWorld.nameLengths
            )
            let first = try await world.run(CustomerJob.compareNames, world.ada.description) { try await compare($0) }
            #expect(first == .again(reason: "details_changed", after: .zero))
            let second = try await world.run(CustomerJob.compareNames, world.ada.description) { try await compare($0) }
            #expect(second == .done)
            #expect(try await world.last(BeneficiaryRemoved.self)?.beneficiaryID == bank.id)
        }
    }

    @Test("when details are corrected, accounts that are in another name now are removed and the others stay")
    func correctedName() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.adaSubscribes()
            let first = try await world.addVerified("0123456789")
            let second = try await world.addChecked("0123456780", holder: "OKONKWO BAYO ADAEZE CHIDINMA")

            try await self.correct("Bayo Okonkwo", sequence: 2, in: world)
            let compared = try await world.run(CustomerJob.compareNames, world.ada.description) {
                try await world.compareNames($0)
            }
            #expect(compared == .done)
            let left = try await world.beneficiaries.list(world.ada, as: world.ada, on: world.requests)
            #expect(left.map(\.id) == [second.id] && left[0].isDefault)
            #expect(try await world.last(BeneficiaryRemoved.self)?.beneficiaryID == first.id)
            #expect(try await world.last(BeneficiaryDefaulted.self)?.beneficiaryID == second.id)
        }
    }
}
