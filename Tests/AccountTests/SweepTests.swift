import Contracts
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccountService

@Suite("Finding payments that nobody told of", .serialized)
struct SweepTests {
    @Test("an account is asked about every ten minutes, beginning ten minutes after it opened")
    func turns() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            try await world.planSweeps()
            #expect(try await world.waiting(AccountJob.sweepPayments) == [])
            try await world.pass(601)
            try await world.planSweeps()
            #expect(try await world.waiting(AccountJob.sweepPayments) == ["1-anc_acc"])
            #expect(try await world.sweep() == .done)
            try await world.planSweeps()
            #expect(try await world.waiting(AccountJob.sweepPayments) == [])
            try await world.pass(601)
            try await world.planSweeps()
            #expect(try await world.waiting(AccountJob.sweepPayments) == ["1-anc_acc"])
        }
    }

    @Test("a payment that no message told of is read and credited once; one that was credited is not read again")
    func found() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            world.provider.add("7-anc_inb_trsf", amount: 150_000, on: "1-anc_acc", reference: "7-ref")
            try await world.hearPayment("7-anc_inb_trsf")
            #expect(try await world.read("7-anc_inb_trsf") == .done)
            world.provider.add("8-anc_inb_trsf", amount: 90_000, on: "1-anc_acc", reference: "8-ref")
            world.provider.add("9-anc_inb_trsf", amount: 1, on: "2-anc_acc", reference: "9-ref")
            try await self.sweepOnce(world)
            #expect(try await world.waiting(AccountJob.readPayment) == ["8-anc_inb_trsf"])
            #expect(try await world.read("8-anc_inb_trsf") == .done)
            try await self.sweepOnce(world)
            #expect(try await world.waiting(AccountJob.readPayment) == [])
            #expect(try await world.said(WalletCredited.self).map(\.amount) == [150_000, 90_000])
        }
    }

    @Test(
        "the newest payments are found in a long list, whichever way the provider sorts it",
        arguments: [true, false]
    )
    func longList(newestFirst: Bool) async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            if !newestFirst { world.provider.listOldestFirst() }
            for number in 1000...1301 {
                world.provider.add("\(number)-anc_inb_trsf", amount: 5, on: "1-anc_acc", reference: "\(number)-ref")
            }
            try await self.sweepOnce(world)
            let waiting = try await world.waiting(AccountJob.readPayment)
            // Messages were lost for long: no page is known to have all that nobody told of.
            for number in 1000...1301 { #expect(waiting.contains("\(number)-anc_inb_trsf")) }
            #expect(world.provider.pagesRead.count == 4)
            for id in waiting { _ = try await world.read(id) }
            world.provider.add("1302-anc_inb_trsf", amount: 5, on: "1-anc_acc", reference: "1302-ref")
            try await self.sweepOnce(world)
            #expect(try await world.waiting(AccountJob.readPayment) == ["1302-anc_inb_trsf"])
            #expect(world.provider.pagesRead.count == (newestFirst ? 8 : 7))
        }
    }

    @Test("of a list that is too long what was found is read, and people are told", arguments: [true, false])
    func tooLong(isRestored: Bool) async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            if isRestored {
                try await world.database.psql("SELECT begin_recovery(transfa_now(), 'restore', 'the disk is gone')")
            }
            for number in 1000...1301 {
                world.provider.add("\(number)-anc_inb_trsf", amount: 5, on: "1-anc_acc", reference: "\(number)-ref")
            }
            try await world.pass(601)
            try await world.planSweeps()
            let outcome = try await world.sweep(pages: 2)
            #expect(outcome == .failed(reason: "too_many_payments"))
            #expect(try await world.waiting(AccountJob.readPayment).count == 200)
        }
    }

    @Test("money that the provider shows as a transfer and as a payment is credited once", arguments: [true, false])
    func twins(transferFirst: Bool) async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            let ids = transferFirst ? ["7-anc_inb_trsf", "9-anc_py"] : ["9-anc_py", "7-anc_inb_trsf"]
            for id in ids {
                world.provider.add(id, amount: 150_000, on: "1-anc_acc", reference: "17-ref")
                try await world.hearPayment(id)
                #expect(try await world.read(id) == .done)
            }
            #expect(try await world.said(WalletCredited.self).map(\.amount) == [150_000])
        }
    }

    @Test("what shares a reference and is another payment is credited to nobody and shown to operators")
    func sharedReference() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            world.provider.add("7-anc_inb_trsf", amount: 150_000, on: "1-anc_acc", reference: "17-ref")
            try await world.hearPayment("7-anc_inb_trsf")
            #expect(try await world.read("7-anc_inb_trsf") == .done)
            for (id, amount) in [("8-anc_inb_trsf", Int64(150_000)), ("9-anc_py", 149_999)] {
                world.provider.add(id, amount: amount, on: "1-anc_acc", reference: "17-ref")
                try await world.hearPayment(id)
                #expect(try await world.read(id) == .failed(reason: "reference_of_another_payment"))
            }
            #expect(try await world.said(WalletCredited.self).map(\.amount) == [150_000])
        }
    }

    @Test("only a reference in the provider's own form says which money it is")
    func providersReferences() {
        #expect(Credit.providers("17952301413280001-ref") == "17952301413280001-ref")
        let others = ["trf-019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11", "-ref", "Rent-ref", "17-ref ", "17", "", nil]
        for other in others { #expect(Credit.providers(other) == nil) }
    }

    private func sweepOnce(_ world: AccountWorld) async throws {
        try await world.pass(601)
        try await world.planSweeps()
        #expect(try await world.sweep() == .done)
    }
}
