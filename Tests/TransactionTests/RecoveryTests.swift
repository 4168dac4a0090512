import AnchorClient
import Foundation
import Logging
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Recovery of a restored ledger")
struct RecoveryTests {
    @Test("what had left is settled, what was forgotten is booked, what never left fails at the end; nothing is sent")
    func whole() async throws {
        try await withRestored { restored in
            let world = restored.world
            let left = try await world.pays("bayo", 100)
            let stayed = try await world.pays("bayo", 30)
            let now = world.clock.now
            let provider = restored.provider
            provider.moves(TransferReference.text(of: left), 100, from: "ada-account", to: "bayo-account", at: now)
            let forgotten = world.ids.next()
            provider.moves(TransferReference.text(of: forgotten), 200, from: "ada-account", to: "bayo-account", at: now)
            provider.moves("by-hand", 50, from: "ada-account", bank: "a-bank", at: now)
            try await restored.begins()

            let asked = JobOutcome.again(reason: "not_decided", after: .seconds(10))
            #expect(try await restored.submits([left, stayed]) == [.done, asked])
            #expect(try await restored.state(of: left) == "completed")
            #expect(try await restored.submits([stayed]) == [asked])
            for account in Restored.accounts + Restored.accounts { try await restored.looks(at: account) }
            #expect(try await restored.wallet(world.ada) == 650)
            #expect(try await restored.wallet(world.bayo) == 100)
            #expect(try await restored.state(of: forgotten) == "completed")
            #expect(try await restored.ends() == .incomplete)

            try await world.passes(.seconds(121))
            #expect(try await restored.submits([stayed]) == [asked])
            #expect(try await restored.submits([stayed]) == [.again(reason: "recovering", after: .seconds(10))])
            #expect(try await restored.ends() == .incomplete)
            for account in Restored.accounts { #expect(try await restored.looks(at: account) == .done, "\(account)") }
            #expect(provider.orders == [])
            #expect(try await restored.ends() == .ended)
            #expect(try await restored.ends() == .ended)
            #expect(try await restored.looks(at: "ada-account") == .cancelled(reason: "no_recovery"))

            #expect(try await restored.submits([left, stayed]) == [.done, .done])
            #expect(provider.orders == [])
            #expect(try await restored.state(of: stayed) == "failed")
            #expect(try await restored.wallet(world.ada) == 650)
            #expect(try await world.history.transfer(stayed, for: world.ada)?.failureReason == "restored")
            let acts = try await world.database.psql("SELECT actor, act FROM audit_log ORDER BY number")
            #expect(acts == ["restore|recovery.begun", "grace|recovery.ended"])
            let suspense = try await SuspenseStore(client: world.work.client).waiting(limit: 10)
            #expect(suspense.map(\.id) == [forgotten] && suspense.map(\.userID) == [world.bayo.uuid])
        }
    }

    @Test("nothing is accepted meanwhile, and the same request is accepted afterwards")
    func acceptance() async throws {
        try await withRestored { restored in
            let world = restored.world
            try await restored.begins()
            await #expect(throws: TestFailure.self) { try await world.pays("bayo", 100) }
            #expect(try await restored.wallet(world.ada) == 1000)
            #expect(try await world.number("SELECT count(*) FROM transfers WHERE type = 'p2p'") == 0)
            try await world.passes(.seconds(121))
            for account in Restored.accounts { try await restored.looks(at: account) }
            #expect(try await restored.ends() == .ended)
            try await world.pays("bayo", 100)
        }
    }

    @Test("a payment to a bank that left for the wallet instead arrives there, and a message waits until that is known")
    func switched() async throws {
        try await withRestored { restored in
            let world = restored.world
            try await world.database.psql(
                """
                INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default)
                VALUES ('\(world.ids.next().lowercased)', '\(world.bayo.uuid.lowercased)', 'a-bank', true, true);
                INSERT INTO slot_minimums VALUES ('2020-01-01', 1)
                """
            )
            let paid = try await world.pays("bayo", 100)
            let route = "SELECT route FROM transfers WHERE id = '\(paid.lowercased)'"
            #expect(try await world.database.psql(route) == ["external"])
            let reference = TransferReference.text(of: paid)
            restored.provider.moves(reference, 100, from: "ada-account", to: "bayo-account", at: world.clock.now)
            try await restored.begins()
            #expect(try await restored.hears(of: reference) == [.again(reason: "recovering", after: .seconds(10))])
            #expect(try await restored.submits([paid]) == [.done])
            #expect(try await restored.hears(of: reference) == [.done])
            for account in Restored.accounts { try await restored.looks(at: account) }
            #expect(try await world.database.psql(route) == ["internal"])
            #expect(try await restored.wallet(world.ada) == 900)
            #expect(try await restored.wallet(world.bayo) == 100)
        }
    }

    @Test("a transfer that is still under way there keeps a recovery open until it has ended")
    func underWay() async throws {
        try await withRestored { restored in
            let world = restored.world
            let reference = TransferReference.text(of: world.ids.next())
            let moves = { (status: TransferStatus) in
                restored.provider.moves(
                    reference,
                    70,
                    from: "ada-account",
                    bank: "a-bank",
                    status: status,
                    at: world.clock.now
                )
            }
            moves(.pending)
            try await restored.begins()
            try await world.passes(.seconds(121))
            let waits = JobOutcome.again(reason: "does_not_agree", after: RecoverAccount.lookAgain)
            #expect(try await restored.looks(at: "ada-account") == waits)
            #expect(try await restored.store.state()?.contains("missing_with_us \(reference)-anc_trsf") == true)
            moves(.failed(reason: "NO_ROUTE"))
            for account in Restored.accounts { #expect(try await restored.looks(at: account) == .done) }
            #expect(try await restored.wallet(world.ada) == 1000)
            #expect(try await restored.ends() == .ended)
        }
    }

    @Test("a reference alone settles nothing: what has another amount is a difference for people")
    func otherAmount() async throws {
        try await withRestored { restored in
            let world = restored.world
            let paid = try await world.pays("bayo", 100)
            restored.provider.moves(
                TransferReference.text(of: paid),
                1,
                from: "ada-account",
                to: "bayo-account",
                at: world.clock.now
            )
            try await restored.begins()
            #expect(
                try await restored.looks(at: "ada-account")
                    == .again(reason: "does_not_agree", after: RecoverAccount.lookAgain)
            )
            #expect(try await restored.state(of: paid) == "accepted")
            #expect(try await restored.ends() == .incomplete)
        }
    }

    @Test("money from outside is left to account for ten minutes, then suspended; what comes later holds nothing up")
    func payments() async throws {
        try await withRestored { restored in
            let world = restored.world
            let provider = restored.provider
            provider.receives("ada-account", 1, "2-anc_inb_trsf", at: world.clock.now.addingTimeInterval(-30))
            provider.receives("bayo-account", 5, "3-anc_inb_trsf", at: world.clock.now.addingTimeInterval(-30))
            try await restored.begins()
            try await world.passes(.seconds(121))
            provider.receives("ada-account", 7, "4-anc_inb_trsf", at: world.clock.now)
            let waits = JobOutcome.again(reason: "does_not_agree", after: RecoverAccount.lookAgain)
            for account in ["ada-account", "bayo-account"] { #expect(try await restored.looks(at: account) == waits) }
            // Account tells of one of them, under the other of its ids.
            try await world.funds("bayo-account", 5, "3-anc_py")
            #expect(try await restored.looks(at: "bayo-account") == .done)
            #expect(try await restored.ends() == .incomplete)

            try await world.passes(.seconds(600))
            for account in Restored.accounts { #expect(try await restored.looks(at: account) == .done, "\(account)") }
            #expect(try await restored.ends() == .ended)
            #expect(try await restored.wallet(world.ada) == 1000)
            #expect(try await restored.wallet(world.bayo) == 5)
            let suspense = try await SuspenseStore(client: world.work.client).waiting(limit: 10)
            #expect(suspense.map(\.amount) == [1])
            try await world.funds("ada-account", 7, "4-anc_inb_trsf")
            #expect(try await restored.wallet(world.ada) == 1007)
        }
    }

    @Test("what a crash leaves half done is done by whoever comes next, and two who look at once book once")
    func twice() async throws {
        try await withRestored { restored in
            let world = restored.world
            for amount in Int64(1)...5 {
                restored.provider.moves(
                    "trf-\(world.ids.next().lowercased)",
                    amount,
                    from: "ada-account",
                    to: "bayo-account",
                    at: world.clock.now
                )
            }
            try await restored.begins()
            try await world.passes(.seconds(121))
            async let first = restored.looks(at: "ada-account")
            async let second = restored.looks(at: "bayo-account")
            async let third = restored.looks(at: "ada-account")
            _ = (try await first, try await second, try await third)
            for account in Restored.accounts { #expect(try await restored.looks(at: account) == .done, "\(account)") }
            #expect(try await restored.wallet(world.ada) == 985)
            #expect(try await world.number("SELECT count(*) FROM forgotten_transfers") == 5)
            let listed = try await restored.store.forgotten(try await restored.open.id, limit: 3)
            #expect(listed.contains(#""source":"ada-account""#) && listed.contains(#""amount":1"#))
            #expect(try await restored.ends() == .ended)
        }
    }

    @Test("the gauge says whether a recovery is open")
    func metrics() async throws {
        try await withRestored { restored in
            let registry = PrometheusRegistry()
            let metrics = RecoveryMetrics(
                store: restored.store,
                registry: registry,
                logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
            )
            try await metrics.refresh()
            #expect(registry.text().contains("transfa_recovery_open 0"))
            try await restored.begins()
            try await metrics.refresh()
            #expect(registry.text().contains("transfa_recovery_open 1"))
            try await restored.world.passes(.seconds(121))
            for account in Restored.accounts { try await restored.looks(at: account) }
            #expect(try await restored.ends() == .ended)
        }
    }
}
