import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("Coming back after leaving", .serialized)
struct ComingBackTests {
    private let proven = VerifiedContact(
        email: Sample.contact.email,
        phone: "+2348030000001",
        saidAt: Date(timeIntervalSince1970: 1_700_000_000)
    )

    /// A sign-up with Ada's identity under another name.
    private func again(_ name: String) -> OnboardingRequest {
        var request = Sample.personal(name)
        request.kycDetails?.bvn = Sample.bvn
        return request
    }

    private func leave(_ subject: String, in world: AuthWorld) async throws {
        let id = world.ids.next().uuidString
        try await world.takeClerkMessage(.userDeleted(subject: subject), id: id, cause: Cause())
    }

    private func restrict(
        _ word: Restriction,
        _ reason: String = "fraud",
        sequence: Int64,
        in world: AuthWorld
    ) async throws {
        let event = UserRestricted(userID: world.ada.uuid, restriction: Open(word), reason: reason)
        try await world.hear(event, sequence: sequence)
    }

    private func release(in world: AuthWorld) async throws {
        let order = OperatorOrder(name: "ops", reason: "It was a mistake", request: world.ids.next())
        try await world.work.transaction(cause: Cause()) { transaction in
            let close = CloseProfile(users: world.users, pins: world.pins, devices: world.devices)
            try await ReleaseIdentity(users: world.users, closeProfile: close)(world.ada, by: order, in: transaction)
        }
    }

    private func lastCreated(in world: AuthWorld) async throws -> UserCreated? {
        try await world.said(UserCreated.self).last
    }

    @Test("who left and signs in anew signs up again, as the same person")
    func returning() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            #expect(try await self.lastCreated(in: world)?.succeeds == nil)
            try await self.leave("user_ada", in: world)
            var request = self.again("adaback")
            request.kycDetails?.fullName = "OKONKWO Adaeze"
            try await world.onboard("user_new", request, verified: self.proven)
            let event = try await self.lastCreated(in: world)
            #expect(event?.succeeds == world.ada.uuid && event?.emailVerified == true)
            // And once more: the last one is taken over.
            try await self.leave("user_new", in: world)
            let phone = VerifiedContact(phone: "08030000001", saidAt: self.proven.saidAt)
            try await world.onboard("user_newer", self.again("adaagain"), verified: phone)
            #expect(try await self.lastCreated(in: world)?.succeeds == UserID(clerkSubject: "user_new").uuid)
        }
    }

    @Test("a BVN alone, another birthday, another proven address or an open profile makes nobody the same person")
    func others() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            try await self.leave("user_ada", in: world)
            var order = self.again("thief1")
            try await world.onboard("user_thief1", order)
            #expect(try await self.lastCreated(in: world)?.succeeds == nil)
            try await self.leave("user_thief1", in: world)

            let elsewhere = VerifiedContact(email: "thief@example.com", saidAt: self.proven.saidAt)
            order.username = "thief2"
            try await world.onboard("user_thief2", order, verified: elsewhere)
            #expect(try await self.lastCreated(in: world)?.succeeds == nil)
            try await self.leave("user_thief2", in: world)

            order.username = "thief3"
            order.kycDetails?.dateOfBirth = "1994-03-01"
            try await world.onboard("user_thief3", order, verified: self.proven)
            #expect(try await self.lastCreated(in: world)?.succeeds == nil)
            await #expect(throws: AuthError.identityInUse(pointer: "/kyc_details/bvn")) {
                try await world.onboard("user_ada2", self.again("adaback"), verified: self.proven)
            }
        }
    }

    @Test("nobody sees whom former_self and is_barred look through")
    func unseen() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            let bola = UserID(clerkSubject: "user_bola")
            for table in ["sign_ins", "user_marks"] {
                let seen = try await world.asUser(bola) { transaction in
                    try await transaction.query("SELECT 1 FROM \(unsafe: table)").count
                }
                #expect(seen == 0, "\(table)")
            }
        }
    }

    @Test("whose profile an operator closed does not come back with the same BVN, address or number")
    func barred() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            try await self.restrict(.closed, sequence: 1, in: world)
            try await self.leave("user_ada", in: world)
            // Who gives the BVN of another learns no more than that there is an account.
            await #expect(throws: AuthError.identityInUse(pointer: "/kyc_details/bvn")) {
                try await world.onboard("user_new", self.again("adaback"))
            }
            let phone = VerifiedContact(phone: "08030000001", saidAt: self.proven.saidAt)
            await #expect(throws: AuthError.signUpRefused) {
                try await world.onboard("user_new", Sample.personal("another"), verified: phone)
            }
            // An address that is only written down is nobody's.
            try await world.onboard("user_bola", Sample.personal("bola"))

            for _ in 0..<2 { try await self.release(in: world) }
            try await world.onboard("user_new", self.again("adaback"), verified: self.proven)
            #expect(try await self.lastCreated(in: world)?.succeeds == nil)
            let acts = try await world.database.psql("SELECT act FROM audit_log WHERE act = 'user.identity_released'")
            #expect(acts.count == 1)
        }
    }

    @Test(
        "who leaves while the profile is frozen does not come back, whichever is heard first",
        arguments: [true, false]
    )
    func frozen(isHeardBefore: Bool) async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            if isHeardBefore { try await self.restrict(.frozen, sequence: 1, in: world) }
            try await self.leave("user_ada", in: world)
            if !isHeardBefore { try await self.restrict(.frozen, sequence: 1, in: world) }
            try await self.restrict(.closed, BarFormer.ownClosing, sequence: 2, in: world)
            await #expect(throws: AuthError.signUpRefused) {
                try await world.onboard("user_new", self.again("adaback"), verified: self.proven)
            }
        }
    }

    @Test("who leaves after the freeze was lifted comes back, and so does who just leaves")
    func peaceful() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            try await self.restrict(.frozen, sequence: 1, in: world)
            try await self.restrict(.none, "cleared", sequence: 2, in: world)
            try await self.leave("user_ada", in: world)
            try await self.restrict(.closed, BarFormer.ownClosing, sequence: 3, in: world)
            try await world.onboard("user_new", self.again("adaback"), verified: self.proven)
            #expect(try await self.lastCreated(in: world)?.succeeds == world.ada.uuid)
        }
    }

    @Test("erasure forgets what was verified and who it was, but not that somebody is barred")
    func erased() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"), verified: self.proven)
            try await self.restrict(.closed, sequence: 1, in: world)
            try await world.work.transaction(cause: Cause()) { try await AuthWorld.eraseUser(world.ada, in: $0) }
            #expect(try await world.count("user_marks") == 0)
            let left = try await world.database.psql("SELECT told || claimed FROM sign_ins")
            #expect(left == ["{}"])
            await #expect(throws: AuthError.identityInUse(pointer: "/kyc_details/bvn")) {
                try await world.onboard("user_new", self.again("adaback"))
            }
        }
    }
}
