import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("One's own data in transaction", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withTransaction { world in
            #expect(try await Exports.transaction.gaps(in: world.service) == [])
            let none = try await Exports.transaction.all(
                of: UserID(UUID()),
                in: world.service,
                keys: InMemoryDataKeys()
            )
            #expect(none.isEmpty)
        }
    }

    @Test("payer and recipient get their own side of a payment, and many pages lose and repeat nothing")
    func given() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1_000_000, "p-1")
            var paid: [String] = []
            for _ in 0..<Exports.pageSize + 5 { paid.append(try await world.pays("bayo", 10).lowercased) }
            let ada = try await Exports.transaction.all(of: world.ada, in: world.service, keys: InMemoryDataKeys())
            let sent = try #require(ada["transfers_sent"])
            #expect(sent.map { $0["id"]?.text } == paid.map { Optional($0) })
            #expect(sent.allSatisfy { $0["recipient_username"]?.text == "bayo" && $0["recipient_id"] == nil })
            // Money from outside, the one that has arrived so far.
            #expect(ada["transfers_received"]?.map { $0["type"]?.text } == ["inbound"])
            #expect(ada["balances"]?.count == 1 && ada["entries"]?.isEmpty == false)
            // What is only on its way is not yet the recipient's.
            let bayo = try await Exports.transaction.all(of: world.bayo, in: world.service, keys: InMemoryDataKeys())
            #expect(bayo["transfers_received"] == nil && bayo["transfers_sent"] == nil)
        }
    }
}
