import AnchorClient
import Contracts
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccountService

@Suite("Crediting payments", .serialized)
struct CreditTests {
    private let id = "7-anc_inb_trsf"

    @Test("a payment is credited once however often the provider tells of it")
    func once() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            world.provider.add(self.id, amount: 150_000, on: "1-anc_acc")
            for _ in 0..<3 {
                try await world.hearPayment(self.id)
                #expect(try await world.read(self.id) == .done)
            }
            let credits = try await world.said(WalletCredited.self)
            #expect(credits.map(\.amount) == [150_000])
            #expect(credits.first?.userID == world.ada.uuid)
            #expect(credits.first?.reference == nil)
            #expect(world.provider.paymentReads == 1)
        }
    }

    @Test("the row is the last line: two that got past the first look still make one credit")
    func race() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            let credit = Credit(
                providerPaymentID: self.id,
                anchorAccountID: "1-anc_acc",
                user: world.ada,
                amount: .init(kobo: 5),
                reference: nil,
                paidAt: world.clock.now
            )
            let store = InboundPaymentStore()
            let ids = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await world.work.transaction(cause: Cause()) { transaction in
                            try await store.insert(credit, in: transaction) != nil
                        }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(ids == 1)
        }
    }

    @Test("an announced payment is credited when it is settled, not before, and never by the webhook's word")
    func settled() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            world.provider.add(self.id, amount: 150_000, on: "1-anc_acc", isSettled: false)
            try await world.hearPayment(self.id, settled: true)
            #expect(try await world.read(self.id) == .again(reason: "not_settled", after: nil))
            #expect(try await world.said(WalletCredited.self).isEmpty)
            world.provider.add(self.id, amount: 140_000, on: "1-anc_acc")
            #expect(try await world.read(self.id) == .done)
            #expect(try await world.said(WalletCredited.self).map(\.amount) == [140_000])
        }
    }

    @Test("a payment that the provider does not know, or on an account that is not ours, is credited to nobody")
    func unknown() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            try await world.hearPayment("8-anc_py")
            #expect(try await world.read("8-anc_py") == .again(reason: "not_found_at_provider", after: nil))
            world.provider.add(self.id, amount: 5, on: "99-anc_acc")
            try await world.hearPayment(self.id)
            #expect(try await world.read(self.id) == .again(reason: "account_unknown", after: nil))
            #expect(try await world.said(WalletCredited.self).isEmpty)
        }
    }

    @Test("only a reference of our form is passed on")
    func references() {
        let ours = "trf-019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11"
        #expect(Credit.ours(ours) == ours)
        for other in ["17952301413280001-ref", "Thanks for the food", "trf-", "trf-Ada Okonkwo", ""] {
            #expect(Credit.ours(other) == nil)
        }
        #expect(Credit.ours(nil) == nil)
    }
}
