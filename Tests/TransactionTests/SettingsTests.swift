import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("What people have chosen")
struct SettingsTests {
    private func asks(_ payer: String, in world: TransactionWorld) async throws {
        let draft = try PaymentRequestDraft(amount: 100, payer: payer, description: nil, expiresAt: nil)
        try await world.asUser(world.bayo) { transaction in
            let new = PaymentRequestStore.New(
                id: UUID(),
                owner: world.bayo,
                draft: draft,
                sealedDescription: nil,
                link: "https://example.com/r/1",
                expiresAt: transaction.now.addingTimeInterval(3600)
            )
            let store = PaymentRequestStore(client: world.requests.client, workers: world.work.client)
            try await store.create(new, in: transaction)
        }
    }

    private func choose(_ policy: String?, sequence: Int64, in world: TransactionWorld) async throws {
        let word = policy.map { #","who_may_request":"\#($0)""# } ?? ""
        let json =
            #"{"user_id":"\#(world.ada.description)","allow_sending":true,"receiving_preference":"external"\#(word)}"#
        try await world.hear(UserSettingsChanged.type, json, sequence: sequence)
    }

    @Test("who may ask follows the newest settings, an unknown word means nobody, and a missing one changes nothing")
    func whoMayRequest() async throws {
        try await withTransaction { world in
            try await self.asks("ada", in: world)
            try await self.choose("nobody", sequence: 2, in: world)
            try await self.choose("everyone", sequence: 1, in: world)
            try await self.choose(nil, sequence: 3, in: world)
            await #expect(throws: PaymentRequestRefusal.payerTakesNoRequests) { try await self.asks("ada", in: world) }
            try await self.choose("everyone", sequence: 4, in: world)
            try await self.asks("ada", in: world)
            try await self.choose("people_of_my_town", sequence: 5, in: world)
            await #expect(throws: PaymentRequestRefusal.payerTakesNoRequests) { try await self.asks("ada", in: world) }
            #expect(try await world.number("SELECT count(*) FROM payment_requests") == 2)
        }
    }

    @Test("the function behind the rule is out of reach of request handlers")
    func noWayAround() async throws {
        try await withTransaction { world in
            let sql = """
                SELECT has_function_privilege(c.oid, p.oid, 'EXECUTE') FROM pg_proc p, pg_roles c
                WHERE p.proname = 'make_payment_request' AND c.rolname = '\(world.database.roleName(.handler))'
                """
            let may = try await world.database.psql(sql)
            #expect(may == ["f"])
        }
    }
}
