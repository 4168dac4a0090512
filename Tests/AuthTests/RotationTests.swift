import Contracts
import Messaging
import Primitives
import Sealing
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("Replacing a master key", .serialized)
struct RotationTests {
    private static let old = Array(repeating: UInt8(7), count: 32)
    private static let new = Array(repeating: UInt8(9), count: 32)

    private func ring(_ keys: (String, [UInt8])...) throws -> MasterKeyRing {
        try MasterKeyRing(try keys.map { try MasterKey(id: $0.0, bytes: $0.1) })
    }

    private func rewrap(with ring: MasterKeyRing, in world: AuthWorld) async throws -> Int {
        let rewrap = RewrapDataKeys(keys: DataKeyStore(), ring: ring)
        return try await world.work.transaction(cause: Cause()) { try await rewrap.rewrap(in: $0) }
    }

    private func masterKeys(in world: AuthWorld) async throws -> [String] {
        try await world.database.psql(
            "SELECT DISTINCT master_key_id FROM data_keys WHERE wrapped IS NOT NULL ORDER BY 1"
        )
    }

    @Test("data keys go under the new master key, stay the same, and then the old one is not needed any more")
    func rotation() async throws {
        try await withAuth { world in
            for name in ["ada", "bayo", "chidi"] { try await world.onboard("user_\(name)", Sample.personal(name)) }
            let ada = try await world.vault.open(world.ada, as: nil, on: world.work)
            let both = try self.ring(("new", Self.new), ("test", Self.old))
            #expect(both.formerIDs == ["test"] && both.ids == ["new", "test"])

            #expect(try await self.rewrap(with: both, in: world) == 3)
            #expect(try await self.masterKeys(in: world) == ["new"])
            #expect(try await self.rewrap(with: both, in: world) == 0)

            let onlyNew = KeyVault(keys: DataKeyStore(), ring: try self.ring(("new", Self.new)))
            #expect(try await onlyNew.open(world.ada, as: nil, on: world.work) == ada)
            await #expect(throws: SealingError.self) {
                try await world.vault.open(world.ada, as: nil, on: world.work)
            }
        }
    }

    @Test("a destroyed key stays destroyed, and what an unknown master key has wrapped is left as it is")
    func left() async throws {
        try await withAuth { world in
            for name in ["ada", "bayo"] { try await world.onboard("user_\(name)", Sample.personal(name)) }
            try await world.work.transaction(cause: Cause()) { try await AuthWorld.eraseUser(world.ada, in: $0) }
            let both = try self.ring(("new", Self.new), ("test", Self.old))
            #expect(try await self.rewrap(with: both, in: world) == 1)
            await #expect(throws: AuthError.erased) { try await world.vault.open(world.ada, as: nil, on: world.work) }

            let others = try self.ring(("newer", Self.old), ("other", Self.new))
            #expect(try await self.rewrap(with: others, in: world) == 0)
            #expect(try await self.masterKeys(in: world) == ["new"])
            #expect(try await DataKeyStore().counts(on: world.work) == ["new": 1])
        }
    }

    @Test("a key that cannot be opened stays where it is counted and holds up no other")
    func broken() async throws {
        try await withAuth { world in
            for name in ["ada", "bayo", "chidi"] { try await world.onboard("user_\(name)", Sample.personal(name)) }
            let bayo = UserID(clerkSubject: "user_bayo").uuid
            try await world.database.psql(
                """
                UPDATE data_keys SET wrapped = (SELECT wrapped FROM data_keys WHERE user_id = '\(bayo)')
                WHERE user_id = '\(world.ada)'
                """
            )
            let both = try self.ring(("new", Self.new), ("test", Self.old))
            #expect(try await self.rewrap(with: both, in: world) == 2)
            #expect(try await DataKeyStore().counts(on: world.work) == ["new": 2, "test": 1])
        }
    }

    @Test("two replicas at once wrap every key once, and a sign-up meanwhile is not touched")
    func replicas() async throws {
        try await withAuth { world in
            for number in 0..<20 { try await world.onboard("user_\(number)", Sample.personal("person\(number)")) }
            let both = try self.ring(("new", Self.new), ("test", Self.old))
            async let one = self.rewrap(with: both, in: world)
            async let two = self.rewrap(with: both, in: world)
            async let signUp = world.onboard("user_late", Sample.personal("late"))
            let (first, second, _) = try await (one, two, signUp)
            // The late one may have been seen or not.
            #expect((20...21).contains(first + second))
            _ = try await self.rewrap(with: both, in: world)
            #expect(try await self.masterKeys(in: world) == ["new"])
        }
    }
}
