import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AuthService

@Suite("One's own data in auth", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withAuth { world in
            #expect(try await Exports.auth.gaps(in: world.service) == [])
            let none = try await Exports.auth.all(of: UserID(UUID()), in: world.service, keys: InMemoryDataKeys())
            #expect(none.isEmpty)
        }
    }

    @Test("the person gets opened what is sealed, and neither hashes nor what belongs to another")
    func given() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            try await world.onboard("user_bayo", Sample.personal("bayo"))
            let keys = VaultKeys(vault: world.vault, database: world.work)
            let given = try await Exports.auth.all(of: world.ada, in: world.service, keys: keys)
            let user = try #require(given["users"]?.first)
            #expect(given["users"]?.count == 1 && user["username"]?.text == "ada")
            #expect(user["kyc_details"]?.members?.isEmpty == false)
            #expect(user["identity_index"] == nil && user["id"] == nil && user["kyb_details"] == .null)
        }
    }

    @Test("of who was erased nothing sealed can be given, and a person without a key is not known")
    func erased() async throws {
        try await withAuth { world in
            try await world.onboard("user_ada", Sample.personal("ada"))
            let keys = VaultKeys(vault: world.vault, database: world.work)
            try await world.work.transaction(cause: Cause()) { transaction in
                try await AuthWorld.eraseUser(world.ada, in: transaction)
            }
            #expect(try await keys.key(for: world.ada) == nil)
            await #expect(throws: DataKeyError.unknownUser) {
                try await keys.key(for: UserID(clerkSubject: "user_eve"))
            }
        }
    }
}
