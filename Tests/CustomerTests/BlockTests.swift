import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import CustomerService

@Suite("Blocks", .serialized)
struct BlockTests {
    private let bayo = UserID(clerkSubject: "user_bayo")

    private func withBoth(_ body: (CustomerWorld) async throws -> Void) async throws {
        try await withCustomer { world in
            for (user, name) in [(world.ada, "ada"), (self.bayo, "bayo")] {
                let signedUp = UserCreated(userID: user.uuid, username: name, accountType: Open(.personal))
                try await world.hear(signedUp, about: user.uuid)
            }
            try await body(world)
        }
    }

    private func change(in world: CustomerWorld) -> ChangeBlock {
        ChangeBlock(users: world.users, blocks: BlockStore())
    }

    @Test("a block is told once, hides the profile from who is blocked and from nobody else, and can be taken back")
    func block() async throws {
        try await self.withBoth { world in
            let profiles = ProfileStore(database: world.work)
            let name = try #require(Username("ada"))
            for _ in 0..<2 {
                try await world.asAda { try await self.change(in: world).block(self.bayo, by: world.ada, in: $0) }
            }
            #expect(try await world.said() == ["user.block_changed"])
            let told = try #require(try await world.last(UserBlockChanged.self))
            #expect(told.userID == world.ada.uuid && told.otherID == self.bayo.uuid && told.isBlocked)

            #expect(try await profiles.find(name, for: self.bayo) == nil)
            #expect(try await profiles.search(name, for: self.bayo, limit: 10).isEmpty)
            #expect(try await profiles.find(name, for: UserID(clerkSubject: "user_chi"))?.id == world.ada)
            let other = try #require(Username("bayo"))
            #expect(try await profiles.find(other, for: world.ada)?.id == self.bayo)
            let listed = try await BlockStore().list(world.ada, limit: 10, on: world.requests)
            #expect(listed.map(\.id) == [self.bayo.uuid])
            #expect(try await BlockStore().list(self.bayo, limit: 10, on: world.requests).isEmpty)

            for _ in 0..<2 {
                try await world.asAda { try await self.change(in: world).unblock(self.bayo, by: world.ada, in: $0) }
            }
            #expect(try await world.last(UserBlockChanged.self)?.isBlocked == false)
            #expect(try await world.said().count == 2)
            #expect(try await profiles.find(name, for: self.bayo)?.id == world.ada)
        }
    }

    @Test("a thousand people can be blocked and no more; one who is blocked already is none more")
    func limit() async throws {
        try await self.withBoth { world in
            try await world.database.psql(
                """
                INSERT INTO users (id, created_at, updated_at, username, account_type)
                SELECT gen_random_uuid(), now(), now(), 'crowd' || n, 'personal' FROM generate_series(1, 999) n;
                INSERT INTO blocks (user_id, blocked_id, created_at)
                SELECT '\(world.ada)', id, now() FROM users WHERE username LIKE 'crowd%'
                """
            )
            for _ in 0..<2 {
                try await world.asAda { try await self.change(in: world).block(self.bayo, by: world.ada, in: $0) }
            }
            let late = UserCreated(userID: world.ids.next(), username: "late", accountType: Open(.personal))
            try await world.hear(late, about: late.userID)
            await #expect(throws: CustomerError.tooManyBlocks) {
                try await world.asAda {
                    try await self.change(in: world).block(UserID(late.userID), by: world.ada, in: $0)
                }
            }
            #expect(try await world.database.psql("SELECT count(*) FROM blocks") == ["1000"])
        }
    }

    @Test("nobody blocks themselves, or in somebody else's name")
    func refusals() async throws {
        try await self.withBoth { world in
            await #expect(throws: CustomerError.blockSelf) {
                try await world.asAda { try await self.change(in: world).block(world.ada, by: world.ada, in: $0) }
            }
            await #expect(throws: CustomerError.notOnboarded) {
                try await world.asUser(self.bayo) {
                    try await self.change(in: world).block(self.bayo, by: world.ada, in: $0)
                }
            }
            // Row level security, not only the lock.
            await #expect(throws: PostgresError.self) {
                try await world.asUser(self.bayo) { try await BlockStore().insert(self.bayo, by: world.ada, in: $0) }
            }
            let said = try await world.said()
            #expect(said == [])
        }
    }
}
