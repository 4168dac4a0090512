import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("One impossible item among the jobs of money")
struct IsolationTests {
    private static let impossible = JobOutcome.again(reason: "database_P0001", after: nil)

    @Test("a payment that cannot be submitted does not stop the others")
    func submission() async throws {
        try await withRestored { restored in
            let world = restored.world
            let ids = [
                try await world.pays("bayo", 100), try await world.pays("bayo", 30), try await world.pays("bayo", 20),
            ]
            let references = ids.map { TransferReference.text(of: $0) }
            try await self.refuse("INSERT ON provider_calls", "NEW.reference = '\(references[1])'", in: world)
            try await restored.world.beats()
            let submit = restored.submit
            let definition = JobDefinition(TransactionJob.submit, batch: 64) { try await submit($0) }
            let outcomes = await definition.run(ids.map { restored.job($0.lowercased) })
            #expect(outcomes == [.done, Self.impossible, .done])
            #expect(restored.provider.orders.sorted() == [references[0], references[2]].sorted())
            #expect(try await restored.state(of: ids[1]) == "accepted")
            #expect(try await restored.wallet(world.bayo) == 120)
        }
    }

    @Test("a payment whose answer cannot be written does not stop the others, and is not sent once more")
    func answer() async throws {
        try await withRestored { restored in
            let world = restored.world
            let ids = [
                try await world.pays("bayo", 100), try await world.pays("bayo", 30), try await world.pays("bayo", 20),
            ]
            let bad = TransferReference.text(of: ids[1])
            try await self.refuse(
                "UPDATE ON transfers",
                "NEW.reference = '\(bad)' AND NEW.state = 'completed'",
                in: world
            )
            #expect(try await restored.submits(ids) == [.done, Self.impossible, .done])
            #expect(try await restored.state(of: ids[1]) == "submitted")
            #expect(try await restored.wallet(world.bayo) == 120)

            try await world.database.psql("DROP FUNCTION refuse() CASCADE")
            restored.provider.moves(bad, 30, from: "ada-account", to: "bayo-account", at: world.clock.now)
            #expect(try await restored.submits([ids[1]]) == [.done])
            #expect(try await restored.wallet(world.bayo) == 150)
            #expect(restored.provider.orders.count == 3)
        }
    }

    @Test("money from outside that cannot be booked does not stop other money")
    func credits() async throws {
        try await withRestored { restored in
            let world = restored.world
            let credits = CreditWallets(database: world.work, store: SubmissionStore())
            let definition = JobDefinition(TransactionJob.credit, batch: 64) { try await credits($0) }
            let jobs = try [("p-2", 5), ("p-3", 0), ("p-4", 7)].map { payment, amount in
                let credit = WalletCredit(providerPaymentID: payment, account: "ada-account", amount: Int64(amount))
                return restored.job(payment, String(decoding: try JSONEncoder().encode(credit), as: UTF8.self))
            }
            let outcomes = await definition.run(jobs)
            #expect(outcomes[0] == .done && outcomes[2] == .done)
            #expect(outcomes[1] == .again(reason: "database_23514", after: nil))
            #expect(try await restored.wallet(world.ada) == 1012)
        }
    }

    /// Makes one item impossible: a trigger refuses what it would write.
    private func refuse(_ act: String, _ condition: String, in world: TransactionWorld) async throws {
        try await world.database.psql(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'impossible'; END $$;
            CREATE TRIGGER refused BEFORE \(act) FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION refuse();
            """
        )
    }
}
