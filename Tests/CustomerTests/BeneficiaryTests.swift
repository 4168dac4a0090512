import AnchorClient
import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Beneficiaries", .serialized)
struct BeneficiaryTests {
    @Test(
        "an account has ten digits and a bank code six",
        arguments: [("123456789", "000014"), ("12345678901", "000014"), ("12345 6789", "000014"), ("0123456789", "14")]
    )
    func form(number: String, bank: String) {
        #expect(throws: FieldProblem.self) { try CustomerWorld.account(number, bank: bank) }
    }

    @Test("the bank names the holder, the first account becomes the default and others hear of it sealed")
    func first() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let found = try await world.addVerified("0123456789")
            #expect(found.status == .verified && found.isDefault && found.bankName == "Test Bank")
            let event = try #require(try await world.last(BeneficiaryAdded.self))
            #expect(event.beneficiaryID == found.id && event.isDefault && event.anchorCounterpartyID == "1-anc_cp")
            let number = try world.adaKey.text(
                in: event.accountNumber,
                field: "beneficiary.account_number",
                of: world.ada
            )
            let name = try world.adaKey.text(in: event.accountName, field: "beneficiary.account_name", of: world.ada)
            #expect(number == "0123456789" && name == "ADAEZE OKONKWO")
            let rows = try await world.database.psql("SELECT b::text FROM beneficiaries b")
            #expect(!rows.joined().contains("0123456789") && !rows.joined().contains("OKONKWO"))
            try await world.adaSubscribes()
            #expect(try await world.add("0123456780").isDefault == false)
        }
    }

    @Test("an answer that was lost is asked for again, and there is one counterparty and one event")
    func lostAnswer() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            world.provider.addAccount("0123456789", holder: "ADAEZE OKONKWO")
            let added = try await world.add("0123456789")
            world.provider.loseNextAnswer()
            #expect(try await world.verify(added) == .again(reason: "connection lost", after: nil))
            #expect(try await world.verify(added) == .done)
            #expect(world.provider.counterpartyCount == 1)
            #expect(try await world.said() == ["beneficiary.added"])
        }
    }

    @Test("an account that the bank does not know is rejected and may be tried again")
    func unknown() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let added = try await world.add("0123456789")
            #expect(try await world.verify(added) == .done)
            let found = try await world.beneficiaries.find(added.id, of: world.ada, on: world.requests)
            #expect(found?.status == .rejected && found?.rejectReason == .accountNotFound)
            let elsewhere = try await world.add("0123456789", bank: "999999")
            #expect(try await world.verify(elsewhere) == .done)
            let other = try await world.beneficiaries.find(elsewhere.id, of: world.ada, on: world.requests)
            #expect(other?.rejectReason == .unknownBank)
            #expect(try await world.said().isEmpty)
            #expect(try await world.addVerified("0123456789").isDefault)
        }
    }

    @Test("the same account twice is refused, pending or verified, but not at another bank")
    func twice() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.adaSubscribes()
            _ = try await world.add("0123456789")
            await #expect(throws: CustomerError.beneficiaryExists) { try await world.add("0123456789") }
            _ = try await world.add("0123456789", bank: "000057")
        }
    }

    @Test("choosing a default says so once; deleting it lets the oldest other follow")
    func defaults() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.adaSubscribes()
            let one = try await world.addVerified("0000000001")
            let two = try await world.addVerified("0000000002")
            let three = try await world.add("0000000003")
            let choose = ChooseDefault(users: world.users, beneficiaries: world.beneficiaries)
            let remove = RemoveBeneficiary(users: world.users, beneficiaries: world.beneficiaries)
            await #expect(throws: CustomerError.beneficiaryNotVerified) {
                try await world.asAda { try await choose(three.id, user: world.ada, in: $0) }
            }
            for _ in 0..<2 {
                #expect(try await world.asAda { try await choose(two.id, user: world.ada, in: $0) }.isDefault)
            }
            try await world.asAda { try await remove(two.id, user: world.ada, in: $0) }
            #expect(try await world.beneficiaries.findDefault(world.ada, on: world.work)?.id == one.id)
            try await world.asAda { try await remove(three.id, user: world.ada, in: $0) }
            try await world.asAda { try await remove(one.id, user: world.ada, in: $0) }
            #expect(try await world.beneficiaries.findDefault(world.ada, on: world.work) == nil)
            #expect(
                try await world.said() == [
                    "beneficiary.added", "beneficiary.added", "beneficiary.defaulted", "beneficiary.removed",
                    "beneficiary.defaulted", "beneficiary.removed", "beneficiary.defaulted",
                ]
            )
            #expect(try await world.last(BeneficiaryDefaulted.self)?.beneficiaryID == nil)
            await #expect(throws: CustomerError.beneficiaryNotFound) {
                try await world.asAda { try await remove(one.id, user: world.ada, in: $0) }
            }
        }
    }

    @Test("an answer that is kept holds number and name sealed, and is opened for their owner")
    func kept() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let bank = try await world.addVerified("0123456789")
            let kept = BeneficiaryResource(sealed: bank)
            #expect(kept.accountNumber.hasPrefix("s1.") && kept.accountName?.hasPrefix("s1.") == true)
            let shown = kept.opened(with: world.adaKey, of: world.ada)
            #expect(shown.accountNumber == "******6789" && shown.accountName == "ADAEZE OKONKWO")
            #expect(shown == BeneficiaryResource(bank, key: world.adaKey) && shown.id == bank.id)
            let erased = kept.opened(with: nil, of: world.ada)
            #expect(erased.accountNumber == "[erased]" && erased.accountName == "[erased]")
        }
    }

    @Test("one that is deleted before the bank is asked, or meanwhile, is never announced")
    func deletedMeanwhile() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.adaSubscribes()
            let remove = RemoveBeneficiary(users: world.users, beneficiaries: world.beneficiaries)
            for number in ["0123456789", "0123456780"] {
                world.provider.addAccount(number, holder: "ADAEZE OKONKWO")
                let added = try await world.add(number)
                let delete: @Sendable () async throws -> Void = {
                    try await world.asAda { try await remove(added.id, user: world.ada, in: $0) }
                }
                if number == "0123456789" {
                    try await delete()
                } else {
                    world.provider.onNextEnquiry { try? await delete() }
                }
                let outcome = try await world.verify(added)
                #expect(outcome == (number == "0123456789" ? .cancelled(reason: "deleted") : .done))
            }
            #expect(world.provider.counterpartyCount == 1)
            #expect(try await world.said().isEmpty)
        }
    }

    @Test(
        "the free plan has one account, a paid one twenty; those of a plan that has ended stay, and none can be added"
    )
    func limit() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let first = try await world.addVerified("0123456789")
            await #expect(throws: CustomerError.planNeeded) { try await world.add("0123456780") }
            // The account that is there already is told from one too many.
            await #expect(throws: CustomerError.beneficiaryExists) { try await world.add("0123456789") }

            try await world.adaSubscribes()
            for number in 1..<PlanAllowance.paidBeneficiaries {
                _ = try await world.add(String(1_000_000_000 + number))
            }
            await #expect(throws: CustomerError.tooManyBeneficiaries) { try await world.add("0123456780") }

            try await world.hear(SubscriptionLapsed(userID: world.ada.uuid, plan: "plus"), sequence: 9)
            let kept = try await world.beneficiaries.list(world.ada, as: world.ada, on: world.requests)
            #expect(kept.count == PlanAllowance.paidBeneficiaries)
            let remove = RemoveBeneficiary(users: world.users, beneficiaries: world.beneficiaries)
            for one in kept.dropFirst() { try await world.asAda { try await remove(one.id, user: world.ada, in: $0) } }
            await #expect(throws: CustomerError.planNeeded) { try await world.add("0123456780") }
            try await world.asAda { try await remove(first.id, user: world.ada, in: $0) }
            _ = try await world.add("0123456780")
        }
    }

    @Test("a plan counts until its time is over, also when nobody has said so yet, and older news changes nothing")
    func planEnds() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            _ = try await world.add("0000000001")
            try await world.adaSubscribes(sequence: 5)
            try await world.hear(SubscriptionLapsed(userID: world.ada.uuid, plan: "plus"), sequence: 4)
            _ = try await world.add("0000000002")
            world.clock.advance(by: .seconds(31 * 86_400))
            await #expect(throws: CustomerError.planNeeded) { try await world.add("0000000003") }
            // Renewed: the grace counts too.
            let now = world.clock.now
            try await world.hear(
                SubscriptionRenewed(
                    userID: world.ada.uuid,
                    plan: "plus",
                    activeUntil: Timestamp.text(now.addingTimeInterval(-1)),
                    graceUntil: Timestamp.text(now.addingTimeInterval(60))
                ),
                sequence: 6
            )
            _ = try await world.add("0000000003")
            try await world.hear(
                SubscriptionCancelled(
                    userID: world.ada.uuid,
                    plan: "plus",
                    activeUntil: Timestamp.text(now.addingTimeInterval(-1))
                ),
                sequence: 7
            )
            await #expect(throws: CustomerError.planNeeded) { try await world.add("0000000004") }
        }
    }

    @Test("somebody else's beneficiary does not exist, not even for the database role")
    func rowLevelSecurity() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let mine = try await world.add("0123456789")
            let stranger = UserID(clerkSubject: "user_bayo")
            let seen = try await world.requests.client.query(
                "SELECT id FROM beneficiaries WHERE id = \(mine.id)",
                as: stranger.uuid
            )
            #expect(seen.isEmpty)
            #expect(try await world.requests.client.query("SELECT id FROM beneficiaries").isEmpty)
            await #expect(throws: CustomerError.beneficiaryNotFound) {
                try await world.requests.transaction(as: stranger, cause: Cause()) { transaction in
                    try await RemoveBeneficiary(users: world.users, beneficiaries: world.beneficiaries)(
                        mine.id,
                        user: stranger,
                        in: transaction
                    )
                }
            }
        }
    }

    @Test("who has not signed up has no beneficiaries")
    func stranger() async throws {
        try await withCustomer { world in
            await #expect(throws: CustomerError.notOnboarded) { try await world.add("0123456789") }
        }
    }

    @Test("waiting ends with the bank's answer, or with the time")
    func waiting() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.adaSubscribes()
            world.provider.addAccount("0123456789", holder: "ADAEZE OKONKWO")
            let added = try await world.add("0123456789")
            let wait = AwaitVerification(
                database: world.requests,
                beneficiaries: world.beneficiaries,
                limit: .seconds(30)
            )
            async let answered = wait(added.id, of: world.ada)
            #expect(try await world.verify(added) == .done)
            #expect(try await answered?.status == .verified)
            let slow = try await world.add("0123456780")
            var hasty = wait
            hasty.limit = .milliseconds(60)
            #expect(try await hasty(slow.id, of: world.ada)?.status == .pending)
        }
    }
}
