import AnchorClient
import Contracts
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccountService

extension AccountWorld {
    /// Writes five kobo down, as a credit of Ada's or as nobody's; false when something is in the way.
    fileprivate func writes(_ id: String, asNobodys isNobodys: Bool) async throws -> Bool {
        let store = InboundPaymentStore()
        let payment = try await self.provider.inboundPayment(id: id, deadline: nil)
        return try await self.work.transaction(cause: Cause()) { transaction in
            guard try await store.earlier(than: payment, on: "1-anc_acc", in: transaction) == nil else { return false }
            guard isNobodys else {
                let credit = Credit(
                    providerPaymentID: id,
                    anchorAccountID: "1-anc_acc",
                    user: self.ada,
                    amount: payment.amount,
                    reference: nil,
                    providerReference: payment.reference,
                    paidAt: transaction.now
                )
                return try await store.insert(credit, in: transaction) != nil
            }
            let unmatched = UnmatchedPayment(
                providerPaymentID: id,
                anchorAccountID: "1-anc_acc",
                amount: payment.amount,
                providerReference: payment.reference,
                paidAt: transaction.now
            )
            try await store.insert(unmatched, in: transaction)
            return true
        }
    }
}

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

    @Test(
        "what nobody has an account for is told once after two hours, under whatever id, and credited to nobody later"
    )
    func unmatched() async throws {
        try await withAccount { world in
            world.provider.add(self.id, amount: 5, on: "1-anc_acc", reference: "17952301413280001-ref")
            world.provider.add("7-anc_py", amount: 5, on: "1-anc_acc", reference: "17952301413280001-ref")
            for id in [self.id, "7-anc_py"] {
                try await world.hearPayment(id)
                for _ in 1..<ReadPayment.unmatchedAfter {
                    #expect(try await world.read(id) == .again(reason: "account_unknown", after: nil))
                }
                #expect(try await world.read(id) == .done)
            }
            let told = try await world.said(PaymentUnmatched.self)
            #expect(told.map(\.providerPaymentID) == [self.id] && told[0].amount == 5)

            // The account turns out to be Ada's: what is told stays told.
            try await world.adaHasWallet()
            for id in [self.id, "7-anc_py"] {
                try await world.hearPayment(id)
                #expect(try await world.read(id) == .done)
            }
            #expect(try await world.said(WalletCredited.self).isEmpty)
        }
    }

    @Test("two payments of one kind that share a reference are two, also on an account that nobody has")
    func unmatchedReference() async throws {
        try await withAccount { world in
            for (id, amount) in [(self.id, Int64(5)), ("8-anc_inb_trsf", 5), ("9-anc_py", 6)] {
                world.provider.add(id, amount: amount, on: "1-anc_acc", reference: "17-ref")
                try await world.hearPayment(id)
                for _ in 1..<ReadPayment.unmatchedAfter { _ = try await world.read(id) }
                #expect(
                    try await world.read(id)
                        == (id == self.id ? .done : .failed(reason: "reference_of_another_payment"))
                )
            }
            #expect(try await world.said(PaymentUnmatched.self).map(\.providerPaymentID) == [self.id])
            try await world.adaHasWallet()
            world.provider.add("10-anc_inb_trsf", amount: 5, on: "1-anc_acc", reference: "17-ref")
            try await world.hearPayment("10-anc_inb_trsf")
            #expect(try await world.read("10-anc_inb_trsf") == .failed(reason: "reference_of_another_payment"))
        }
    }

    @Test("of the two names for the same money one is written down, also when only one of them finds the account")
    func namesAtOnce() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            for round in 0..<5 {
                let (credit, nobodys) = ("\(round)-anc_inb_trsf", "\(round)-anc_py")
                for id in [credit, nobodys] {
                    world.provider.add(id, amount: 5, on: "1-anc_acc", reference: "\(round)-ref")
                }
                async let first = world.writes(credit, asNobodys: false)
                async let second = world.writes(nobodys, asNobodys: true)
                let written = try await [first, second]
                #expect(written.count { $0 } == 1)
            }
        }
    }

    @Test("money of ours on an account that nobody has is not told: it is in the books")
    func ownReference() async throws {
        try await withAccount { world in
            let reference = "trf-019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11"
            world.provider.add(self.id, amount: 5, on: "99-anc_acc", reference: reference)
            try await world.hearPayment(self.id)
            for _ in 0...ReadPayment.unmatchedAfter {
                #expect(try await world.read(self.id) == .again(reason: "account_unknown", after: nil))
            }
            #expect(try await world.said(PaymentUnmatched.self).isEmpty)
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
