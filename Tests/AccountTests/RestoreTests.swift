import AnchorClient
import Contracts
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import AccountService

extension AccountWorld {
    /// As the restore does; the id of the recovery.
    fileprivate func isRestored() async throws -> String? {
        try await self.database.psql(
            "SELECT begin_recovery('2026-05-15T11:00:00Z', 'restore', 'the disk is gone')"
        ).first
    }
}

@Suite("After a restore", .serialized)
struct RestoreTests {
    @Test("every account is swept at once, and once through all its pages")
    func pages() async throws {
        try await withAccount { world in
            try await world.adaHasWallet()
            for number in 1000...1449 {
                world.provider.add("\(number)-anc_inb_trsf", amount: 5, on: "1-anc_acc", reference: "\(number)-ref")
            }
            try await world.planSweeps()
            #expect(try await world.waiting(AccountJob.sweepPayments) == [])
            let begun = try await world.isRestored()
            #expect(try await world.isRestored() == begun)
            try await world.planSweeps()
            #expect(try await world.waiting(AccountJob.sweepPayments) == ["1-anc_acc"])
            #expect(try await world.sweep() == .done)
            #expect(try await world.waiting(AccountJob.readPayment).count == 450)
            #expect(world.provider.pagesRead.count == 5)

            try await world.pass(601)
            try await world.planSweeps()
            #expect(try await world.sweep() == .done)
            // None of them has been read yet, so it may be that others are missing too.
            #expect(world.provider.pagesRead.count == 10)
            let acts = try await world.database.psql("SELECT actor, act, subject, reason, after FROM audit_log")
            let after = #"{"restored_to" : "2026-05-15T11:00:00.000Z"}"#
            #expect(acts == ["restore|recovery.begun|\(begun ?? "")|the disk is gone|\(after)"])
        }
    }

    @Test("a customer whose account was forgotten gets no second one")
    func accounts() async throws {
        try await withAccount { world in
            _ = try await world.provider.createDepositAccount(
                customerID: "1-anc_ind_cst",
                kind: .individual,
                deadline: nil
            )
            _ = try await world.isRestored()
            try await world.adaHasWallet()
            #expect(world.provider.accounts.count == 1)
        }
    }
}
