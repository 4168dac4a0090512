import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Users", .serialized)
struct UserTests {
    private func change(_ request: SettingsRequest, in world: CustomerWorld) async throws -> UserSettings {
        let change = try SettingsChange(checking: request)
        return try await world.asAda { transaction in
            try await ChangeSettings(users: world.users)(change, user: world.ada, in: transaction)
        }
    }

    @Test("changed settings are announced whole, unchanged ones are not")
    func settings() async throws {
        try await withCustomer { world in
            try await world.adaOpensShop()
            _ = try await self.change(SettingsRequest(allowSending: true), in: world)
            #expect(try await world.said().isEmpty)
            for _ in 0..<2 { _ = try await self.change(SettingsRequest(allowSending: false), in: world) }
            #expect(try await world.said() == ["user.settings_changed"])
            let event = try await world.last(UserSettingsChanged.self)
            #expect(event?.allowSending == false && event?.receivingPreference == .known(.external))
        }
    }

    @Test("who may request is everyone until it is changed, kept by other changes, and one of three words")
    func whoMayRequest() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            #expect(
                try await world.users.find(world.ada, as: world.ada, on: world.requests)?.settings == UserSettings()
            )
            _ = try await self.change(SettingsRequest(whoMayRequest: "contacts"), in: world)
            let after = try await self.change(SettingsRequest(receivingPreference: "wallet"), in: world)
            #expect(after == UserSettings(receivingPreference: .wallet, whoMayRequest: .contacts))
            let told = try await world.said(UserSettingsChanged.self)
            #expect(told.map(\.whoMayRequest) == [.known(.contacts), .known(.contacts)])
            #expect(throws: FieldProblem(pointer: "/who_may_request", rule: .whoMayRequest)) {
                try SettingsChange(checking: SettingsRequest(whoMayRequest: "friends"))
            }
        }
    }

    @Test("settings of somebody who has not signed up cannot be changed")
    func stranger() async throws {
        try await withCustomer { world in
            await #expect(throws: CustomerError.notOnboarded) {
                try await self.change(SettingsRequest(receivingPreference: "wallet"), in: world)
            }
        }
    }

    @Test("a restriction is announced once with its reason")
    func restriction() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            let order = try RestrictionOrder(restriction: "frozen", reason: "fraud_review")
            for _ in 0..<2 {
                try await world.work.transaction(cause: Cause()) { transaction in
                    try await RestrictUser(users: world.users)(order, user: world.ada, by: .grace, in: transaction)
                }
            }
            #expect(try await world.said() == ["user.restricted"])
            #expect(try await world.last(UserRestricted.self)?.reason == "fraud_review")
            let acts = "SELECT actor, act, subject, before, after FROM audit_log"
            let change = #"{"restriction":"none"}|{"restriction":"frozen"}"#
            #expect(try await world.database.psql(acts) == ["grace|user.restricted|\(world.ada)|\(change)"])
            await #expect(throws: CustomerError.userNotFound) {
                try await world.work.transaction(cause: Cause()) { transaction in
                    let nobody = UserID(clerkSubject: "nobody")
                    try await RestrictUser(users: world.users)(order, user: nobody, by: .grace, in: transaction)
                }
            }
        }
    }

    @Test("a closed profile is not opened again, by no order and by no statement, and neither is an erased one")
    func closed() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.restrict(world.ada, "frozen")
            for _ in 0..<2 { try await world.restrict(world.ada, "closed") }
            for word in ["none", "post_no_debit", "frozen"] {
                await #expect(throws: CustomerError.profileClosed) { try await world.restrict(world.ada, word) }
            }
            let event = UserClosed(userID: world.ada.uuid, closedAt: Timestamp.text(world.clock.now))
            try await world.hear(event, sequence: 2)
            #expect(try await world.said(UserRestricted.self).map(\.restriction) == [.known(.frozen), .known(.closed)])
            await #expect(throws: (any Error).self) {
                try await world.database.psql("UPDATE users SET restriction = 'none'")
            }
            #expect(try await world.users.find(world.ada, as: nil, on: world.work)?.restriction == .known(.closed))
            let chi = try await world.joins("chi")
            try await world.hear(UserErased(userID: chi.uuid), about: chi.uuid, sequence: 2)
            await #expect(throws: CustomerError.erased) { try await world.restrict(chi, "frozen") }
            try await world.restrict(chi, "closed")
        }
    }

    @Test("an older event of the same source changes nothing, and the sources do not mix")
    func order() async throws {
        try await withCustomer { world in
            // The verdict first: streams of different services interleave.
            let verified = CustomerVerified(userID: world.ada.uuid, anchorCustomerID: "1-anc_ind_cst")
            try await world.hear(verified, sequence: 7)
            try await world.adaSignsUp(sequence: 2)
            try await world.adaSignsUp(contact: nil, sequence: 1)
            let rejected = CustomerRejected(userID: world.ada.uuid, anchorCustomerID: "1", status: Open(.rejected))
            try await world.hear(rejected, sequence: 6)
            let user = try await world.users.find(world.ada, as: nil, on: world.work)
            #expect(user?.verification == .known(.approved) && user?.username == "ada" && user?.details.contact != nil)
            #expect(try await world.users.find(username: "ada", on: world.work)?.id == world.ada)
        }
    }

    @Test("details heard before the sign-up count, and so does its name; what is closed or erased before it stays so")
    func late() async throws {
        try await withCustomer { world in
            let details = UserDetailsProvided(
                userID: world.ada.uuid,
                accountType: Open(.personal),
                kycDetails: try world.sealed(Sample.person, "kyc_details"),
                contactDetails: try world.sealed(Sample.contact, "contact_details")
            )
            try await world.hear(details, sequence: 2)
            try await world.adaSignsUp(contact: nil, sequence: 1)
            let ada = try await world.users.find(world.ada, as: nil, on: world.work)
            #expect(ada?.username == "ada" && ada?.details.contact != nil)
        }
        try await withCustomer { world in
            let closed = UserClosed(userID: world.ada.uuid, closedAt: Timestamp.text(world.clock.now))
            try await world.hear(closed, sequence: 2)
            try await world.adaSignsUp(sequence: 1)
            let ada = try await world.users.find(world.ada, as: nil, on: world.work)
            #expect(ada?.restriction == .known(.closed) && ada?.username == "ada")
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 3)
            try await world.hear(
                UserCreated(userID: world.ada.uuid, username: "ada", accountType: Open(.personal)),
                sequence: 1
            )
            let kept = "SELECT count(*) FROM users WHERE kyc_details IS NOT NULL OR contact_details IS NOT NULL"
            #expect(try await world.database.psql(kept) == ["0"])
        }
    }

    @Test("after erasure nothing sealed is left, and the name leads nowhere")
    func erased() async throws {
        try await withCustomer { world in
            try await world.adaSignsUp()
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 2)
            let user = try await world.users.find(world.ada, as: nil, on: world.work)
            #expect(user?.isErased == true && user?.details == SealedDetails())
            #expect(try await world.users.find(username: "ada", on: world.work) == nil)
            await #expect(throws: CustomerError.notOnboarded) {
                try await self.change(SettingsRequest(receivingPreference: "wallet"), in: world)
            }
        }
    }

    @Test("how a profile stands is known of whoever asks, and nobody has one before the sign-up is heard of")
    func state() async throws {
        try await withCustomer { world in
            #expect(try await world.users.state(of: world.ada, on: world.requests) == .missing)
            // A verdict tells of no name.
            try await world.hear(CustomerVerified(userID: world.ada.uuid, anchorCustomerID: "1"), sequence: 1)
            #expect(try await world.users.state(of: world.ada, on: world.requests) == .missing)
            try await world.adaSignsUp()
            #expect(try await world.users.state(of: world.ada, on: world.requests) == .open)
            for (word, state) in [("frozen", ProfileState.open), ("closed", .closed)] {
                try await world.restrict(world.ada, word)
                #expect(try await world.users.state(of: world.ada, on: world.requests) == state)
            }
            let chi = try await world.joins("chi")
            try await world.hear(UserErased(userID: chi.uuid), about: chi.uuid, sequence: 2)
            #expect(try await world.users.state(of: chi, on: world.requests) == .closed)
        }
    }
}
