import Contracts
import Foundation
import HTTPTypes
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("The least that banks take")
struct BankMinimumTests {
    private func bank(of user: UserID, in world: TransactionWorld) async throws -> UUID {
        let added = BeneficiaryAdded(
            userID: user.uuid,
            beneficiaryID: world.ids.next(),
            anchorCounterpartyID: "\(user.uuid)-bank",
            isDefault: true,
            bankName: "Bank",
            bankCode: "000001",
            accountNumber: Sealed("s1.c2VhbGVk"),
            accountName: Sealed("s1.c2VhbGVk")
        )
        try await world.hear(added, about: user.uuid, sequence: 2)
        return added.beneficiaryID
    }

    private func quote(_ request: QuoteRequest, in world: TransactionWorld) async throws -> QuoteResponse {
        let quote = QuoteOrder(store: QuoteStore(client: world.requests.client), clock: world.clock)
        return try await quote(request, for: world.ada) { _, _ in "quote" }
    }

    private func pays(_ amount: Int64, in world: TransactionWorld) async throws -> String {
        guard case .accepted(let receipt) = try await world.orders("bayo", amount).outcome else {
            throw TestFailure("not accepted: \(amount)")
        }
        return receipt.route
    }

    @Test("on the free plan what is less than 100 naira goes to the wallet and takes no slot, and the quote says so")
    func payment() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 100_000, "p-1")
            _ = try await self.bank(of: world.bayo, in: world)
            for (amount, route) in [(Int64(99), "internal"), (9999, "internal"), (10_000, "external")] {
                let quote = try await self.quote(QuoteRequest(recipientUsername: "bayo", amount: amount), in: world)
                #expect(quote.route == route)
                #expect(try await self.pays(amount, in: world) == route)
            }
            let reasons = try await world.database.psql(
                "SELECT route_reason FROM transfers WHERE type = 'p2p' ORDER BY amount"
            )
            #expect(reasons == ["below_minimum", "below_minimum", "free_slot"])
            #expect(try await world.number("SELECT sum(slots_used) FROM receiving_counters") == 1)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("with a plan what a bank takes goes to the bank: not 99 kobo, but 100")
    func plan() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            _ = try await self.bank(of: world.bayo, in: world)
            try await world.database.psql(
                "UPDATE users SET active_until = transfa_now() + interval '1 day' WHERE username = 'bayo'"
            )
            for (amount, route) in [(Int64(99), "internal"), (100, "external")] {
                let quote = try await self.quote(QuoteRequest(recipientUsername: "bayo", amount: amount), in: world)
                #expect(quote.route == route)
                #expect(try await self.pays(amount, in: world) == route)
            }
            #expect(try await world.number("SELECT sum(slots_used) FROM receiving_counters") == 0)
        }
    }

    @Test("a withdrawal of 99 kobo is refused, quoted or ordered, and names the amount")
    func withdrawal() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let bank = try await self.bank(of: world.ada, in: world)
            let order = { (amount: Int64) in
                try await world.places(.withdrawal(to: bank, amount: Money(kobo: amount)), of: world.ada).outcome
            }
            #expect(try await order(99) == .refused("amount_below_minimum"))
            guard case .accepted = try await order(100) else { throw TestFailure("a bank takes 100 kobo") }
            let request = { QuoteRequest(type: "self_transfer", amount: $0) }
            await #expect(throws: OrderRefusal.amountBelowMinimum) { try await self.quote(request(99), in: world) }
            #expect(try await self.quote(request(100), in: world).total == 100)
            // What stays in our books has no minimum.
            #expect(try await self.quote(QuoteRequest(type: "money_drop", amount: 1), in: world).route == "internal")
            let error = OrderRefusal.amountBelowMinimum.apiError
            #expect(error.status == .unprocessableContent && error.source == .pointer("/amount"))
        }
    }
}
