import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccountService

@Suite("One's own data in account", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withAccount { world in
            #expect(try await Exports.account.gaps(in: world.service) == [])
            let none = try await Exports.account.all(of: UserID(UUID()), in: world.service, keys: InMemoryDataKeys())
            #expect(none.isEmpty)
        }
    }

    @Test("the person gets the number of the account and what arrived there")
    func given() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            let given = try await Exports.account.all(of: world.ada, in: world.service, keys: world.keys)
            let account = try #require(given["accounts"]?.first)
            #expect(account["account_number"]?.text == "9000000001" && account["account_name"]?.text == "ADA OKONKWO")
            #expect(account["anchor_account_id"] == nil)
        }
    }
}
