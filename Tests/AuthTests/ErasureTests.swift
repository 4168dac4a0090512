import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("Erasing by operators", .serialized)
struct ErasureTests {
    private static let erase = EraseByOperators(users: UserStore(), eraseUser: AuthWorld.eraseUser)

    private func withAda(_ body: (AuthWorld) async throws -> Void) async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await body(world)
        }
    }

    private func orders(_ name: String, in world: AuthWorld) async throws -> EraseByOperators.Outcome {
        try await world.work.transaction(cause: Cause()) { transaction in
            try await Self.erase(world.ada, by: OperatorOrder(name: name, reason: "asked for"), in: transaction)
        }
    }

    private func acts(in world: AuthWorld) async throws -> [String] {
        try await world.database.psql("SELECT actor, act, before FROM audit_log ORDER BY number")
    }

    @Test("who may have money is not erased by one operator, but by two within a day")
    func two() async throws {
        try await self.withAda { world in
            #expect(try await self.orders("grace", in: world) == .proposed)
            #expect(try await self.orders("grace", in: world) == .proposed)
            #expect(try await world.said() == ["user.created", "user.erasure_due"])
            _ = try await world.vault.open(world.ada, as: nil, on: world.work)

            world.clock.advance(by: .seconds(24 * 60 * 60))
            #expect(try await self.orders("linus", in: world) == .proposed)
            _ = try await world.vault.open(world.ada, as: nil, on: world.work)
            #expect(try await self.orders("grace", in: world) == .erased)
            #expect(try await world.said().last == "user.erased")
            #expect(try await self.orders("grace", in: world) == .erased)
            #expect(
                try await self.acts(in: world) == [
                    "grace|user.erasure_proposed|", "linus|user.erasure_proposed|",
                    #"grace|user.erased|{"proposed_by":"linus"}"#,
                ]
            )
        }
    }

    @Test("one operator is enough for an hour after transaction has said that nothing is left")
    func cleared() async throws {
        try await self.withAda { world in
            #expect(try await self.orders("grace", in: world) == .proposed)
            try await world.hear(UserErasureCleared(userID: world.ada.uuid), sequence: 1)
            world.clock.advance(by: .seconds(60 * 60))
            #expect(try await self.orders("grace", in: world) == .proposed)
            try await world.hear(UserErasureCleared(userID: world.ada.uuid), sequence: 2)
            #expect(try await self.orders("grace", in: world) == .erased)
            #expect(try await world.said().last == "user.erased")
        }
    }
}
