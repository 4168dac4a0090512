import Contracts
import Messaging
import Primitives
import Sealing
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("One person, one account that goes on", .serialized)
struct IdentityTests {
    private let inUse = AuthError.identityInUse(pointer: "/kyc_details/bvn")

    /// A sign-up with Ada's BVN under another name.
    private func again(_ name: String) -> OnboardingRequest {
        var request = Sample.personal(name)
        request.kycDetails?.bvn = Sample.bvn
        return request
    }

    private func release(_ user: UserID, in world: AuthWorld) async throws {
        let order = OperatorOrder(name: "ops", reason: "Lost the sign-in", request: world.ids.next())
        try await world.work.transaction(cause: Cause()) { transaction in
            let close = CloseProfile(users: world.users, pins: world.pins, devices: world.devices)
            try await ReleaseIdentity(users: world.users, closeProfile: close)(user, by: order, in: transaction)
        }
    }

    @Test("of eight who sign up with one BVN at once one goes on, and a BVN of another's is no reason")
    func atOnce() async throws {
        try await withAuth { world in
            let outcomes = await withTaskGroup(of: String.self) { group in
                for index in 0..<8 {
                    group.addTask {
                        do {
                            try await world.onboard("user_\(index)", self.again("person\(index)"))
                            return "ok"
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(outcomes.filter { $0 == "ok" }.count == 1)
            #expect(outcomes.filter { $0 == "\(self.inUse)" }.count == 7)
            try await world.onboard("user_bola", Sample.personal("bola"))
        }
    }

    @Test("one company is one merchant, however its number is written; its owner's own account is another matter")
    func business() async throws {
        try await withAuth { world in
            var first = Sample.merchant("shop1")
            first.kybDetails?.rcNumber = "rc-00123"
            try await world.onboard("user_shop", first)
            var second = Sample.merchant("shop2")
            second.kybDetails?.rcNumber = "123"
            await #expect(throws: AuthError.identityInUse(pointer: "/kyb_details/rc_number")) {
                try await world.onboard("user_other", second)
            }
            second.kybDetails?.rcNumber = "BN123"
            second.kybDetails?.businessBvn = first.kybDetails?.businessBvn
            await #expect(throws: AuthError.identityInUse(pointer: "/kyb_details/business_bvn")) {
                try await world.onboard("user_other", second)
            }
            var owner = Sample.personal("owner")
            owner.kycDetails?.bvn = first.kybDetails?.businessBvn ?? ""
            try await world.onboard("user_owner", owner)
        }
    }

    @Test("who has not given everything holds nobody up, and is told once everything is there")
    func incomplete() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada", contact: nil))
            try await world.onboard("user_real", self.again("real"))
            let provide = ProvideDetails(users: world.users, vault: world.vault, index: try world.index)
            let request = OnboardingDetailsRequest(contactDetails: Sample.contact)
            let today = LagosCalendar.day(of: world.clock.now)
            await #expect(throws: self.inUse) {
                try await world.asUser(world.ada) { transaction in
                    try await provide(request, user: world.ada, clerkSubject: "user_ada", today: today, in: transaction)
                }
            }
        }
    }

    @Test("a rejected person's BVN is not free until an operator frees it, frozen or not; that account does not go on")
    func rejected() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await self.reject(world)
            await #expect(throws: self.inUse) { try await world.onboard("user_real", self.again("real")) }
            try await self.release(world.ada, in: world)
            try await world.onboard("user_real", self.again("real"))
            let provide = ProvideDetails(users: world.users, vault: world.vault, index: try world.index)
            let request = OnboardingDetailsRequest(contactDetails: Sample.contact)
            let today = LagosCalendar.day(of: world.clock.now)
            await #expect(throws: AuthError.notOnboarded) {
                try await world.asUser(world.ada) { transaction in
                    try await provide(request, user: world.ada, clerkSubject: "user_ada", today: today, in: transaction)
                }
            }
        }
    }

    @Test("a late approval of a rejected account is heard", arguments: [true, false])
    func lateApproval(isReleased: Bool) async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await self.reject(world)
            if isReleased { try await self.release(world.ada, in: world) }
            // Refused for as long as Ada's account may go on.
            _ = try? await world.onboard("user_real", self.again("real"))
            try await world.hear(CustomerVerified(userID: world.ada.uuid, anchorCustomerID: "1"), sequence: 2)
            let going = try await world.database.psql(
                """
                SELECT username FROM users WHERE identity_index IS NOT NULL AND closed_at IS NULL
                    AND status = 'onboarding_initiated'
                """
            )
            #expect(going == [isReleased ? "real" : "ada"])
            let verdicts = try await world.database.psql("SELECT verification_status FROM users WHERE username = 'ada'")
            #expect(verdicts == ["approved"])
        }
    }

    private func reject(_ world: AuthWorld) async throws {
        let rejection = CustomerRejected(userID: world.ada.uuid, anchorCustomerID: "1", status: Open(.rejected))
        try await world.hear(rejection, sequence: 1)
    }

    @Test("who closed the profile or was erased holds nobody up, and nothing of the BVN is kept after erasure")
    func gone() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            _ = try await world.takeClerkMessage(.userDeleted(subject: "user_ada"), id: "msg_1", cause: Cause())
            try await world.onboard("user_new", self.again("new1"))
            let new = UserID(clerkSubject: "user_new")
            try await world.work.transaction(cause: Cause()) { try await AuthWorld.eraseUser(new, in: $0) }
            try await world.onboard("user_newer", self.again("new2"))
            let kept = try await world.database.psql(
                "SELECT count(*) FROM users WHERE id = '\(new)' AND identity_index IS NOT NULL"
            )
            #expect(kept == ["0"])
        }
    }

    @Test("an operator frees the identity of a frozen account, once, which closes it; it stands in the audit")
    func released() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            await #expect(throws: AuthError.notFrozen) { try await self.release(world.ada, in: world) }
            await #expect(throws: AuthError.userNotFound) {
                try await self.release(UserID(clerkSubject: "user_nobody"), in: world)
            }
            let frozen = UserRestricted(userID: world.ada.uuid, restriction: Open(.frozen), reason: "lost_sign_in")
            try await world.hear(frozen, sequence: 2)
            // Said earlier, heard later.
            try await world.hear(
                UserRestricted(userID: world.ada.uuid, restriction: Open(.none), reason: "cleared"),
                sequence: 1
            )
            for _ in 0..<2 { try await self.release(world.ada, in: world) }
            try await world.onboard("user_found", self.again("found"))
            await #expect(throws: self.inUse) { try await world.onboard("user_third", self.again("third")) }
            let acts = try await world.database.psql("SELECT act FROM audit_log WHERE act = 'user.identity_released'")
            #expect(acts.count == 1)
            // An end of the freeze does not let it go on.
            let cleared = UserRestricted(userID: world.ada.uuid, restriction: Open(.none), reason: "cleared")
            try await world.hear(cleared, sequence: 3)
            let lost = try await world.users.find(world.ada, on: world.work)
            #expect(lost == nil)
            #expect(try await world.said(UserClosed.self).map(\.userID) == [world.ada.uuid])
        }
    }
}
