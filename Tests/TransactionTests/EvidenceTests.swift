import AnchorClient
import Contracts
import Foundation
import Logging
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

/// A ledger beside a provider that is asked.
private struct Evidence {
    let world: TransactionWorld
    let provider = AskedProvider()

    /// Runs the job of a transfer.
    func submits(_ id: UUID, by clock: (any TimeSource)? = nil) async throws -> JobOutcome {
        let submit = SubmitTransfers(
            database: self.world.work,
            store: SubmissionStore(),
            provider: self.provider,
            clock: clock ?? self.world.clock,
            logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
            repeats: AnchorRepeats(time: self.world.clock)
        )
        try await self.world.beats()
        return try await submit([self.job(id.lowercased)])[0]
    }

    /// A message about a transfer comes, or is looked at again, so many seconds after it came.
    func hears(
        _ status: ProviderTransferStatus,
        of id: UUID,
        as providerID: String? = nil,
        attempt: Int = 1,
        after seconds: TimeInterval = 0
    ) async throws -> JobOutcome {
        let reference = TransferReference.text(of: id)
        let fact = ProviderTransferUpdated(
            anchorTransferID: providerID ?? "\(reference)-anc_trsf",
            reference: reference,
            status: Open(status),
            providerEventID: "1-anc_et"
        )
        let payload = String(decoding: try JSONEncoder().encode(fact), as: UTF8.self)
        let apply = ApplyTransferFacts(
            database: self.world.work,
            store: SubmissionStore(),
            provider: self.provider,
            repeats: AnchorRepeats(time: self.world.clock),
            clock: self.world.clock
        )
        return try await apply([self.job("1-anc_et", payload, attempt: attempt, after: seconds)])[0]
    }

    func state(of id: UUID) async throws -> String? {
        try await self.world.database.psql("SELECT state FROM transfers WHERE id = '\(id.lowercased)'").first
    }

    /// How the calls of a transfer ended.
    func calls(of id: UUID) async throws -> [String] {
        let reference = TransferReference.text(of: id)
        return try await self.world.database.psql(
            "SELECT outcome FROM provider_calls WHERE reference = '\(reference)' ORDER BY attempt"
        )
    }

    /// What Ada may spend, and what she has.
    func ada() async throws -> [Int64] {
        let wallet = try await self.world.history.wallet(of: self.world.ada)
        return [wallet?.posted ?? -1, wallet?.held ?? -1]
    }

    private func job(
        _ key: String,
        _ payload: String = "{}",
        attempt: Int = 1,
        after seconds: TimeInterval = 0
    ) -> Job {
        let asked = JumpingClock(at: self.world.clock.now.addingTimeInterval(-seconds))
        return Job(
            id: UUIDv7Source(clock: asked).next(),
            key: key,
            subject: nil,
            payload: payload,
            attempt: attempt,
            cause: Cause(),
            leaseUntil: self.world.clock.now.addingTimeInterval(600),
            owner: self.world.ids.next()
        )
    }
}

/// Runs `body` on a ledger in which Ada has 1000 and has sent Bayo 100, or is about to.
private func withPayment(
    sent: Bool = true,
    _ body: (Evidence, UUID, _ reference: String) async throws -> Void
) async throws {
    try await withTransaction { world in
        let evidence = Evidence(world: world)
        try await world.funds("ada-account", 1000, "1-anc_inb_trsf")
        let id = try await world.pays("bayo", 100)
        if sent { _ = try await evidence.submits(id) }
        try await body(evidence, id, TransferReference.text(of: id))
        let broken = try await world.brokenInvariants()
        #expect(broken == [])
    }
}

@Suite("A message of the provider is a hint")
struct HintTests {
    private static let unconfirmed = JobOutcome.again(reason: "not_confirmed", after: nil)

    @Test("what gives money back counts when the provider says so too", arguments: [true, false])
    func failed(isTrue: Bool) async throws {
        try await withPayment { evidence, id, reference in
            #expect(try await evidence.hears(.failed, of: id) == Self.unconfirmed)
            #expect(try await evidence.ada() == [1000, 100])
            evidence.provider.has(reference, isTrue ? .failed(reason: "DO_NOT_HONOR") : .completed)
            let outcome = try await evidence.hears(.failed, of: id)
            #expect(outcome == (isTrue ? .done : Self.unconfirmed))
            #expect(try await evidence.state(of: id) == (isTrue ? "failed" : "completed"))
            #expect(try await evidence.ada() == (isTrue ? [1000, 0] : [900, 0]))
        }
    }

    @Test("a reversal that the provider does not know of gives nothing back, and is shown to people in the end")
    func reversed() async throws {
        try await withPayment { evidence, id, reference in
            evidence.provider.has(reference, .completed)
            #expect(try await evidence.hears(.successful, of: id) == .done)
            #expect(try await evidence.hears(.reversed, of: id) == Self.unconfirmed)
            // Most of these asked nothing: the provider was away.
            #expect(try await evidence.hears(.reversed, of: id, attempt: 50, after: 3500) == Self.unconfirmed)
            let last = try await evidence.hears(.reversed, of: id, attempt: 50, after: 3601)
            #expect(last == .failed(reason: "provider_does_not_confirm"))
            #expect(try await evidence.ada() == [900, 0])
            evidence.provider.has(reference, .reversed)
            #expect(try await evidence.hears(.reversed, of: id) == .done)
            #expect(try await evidence.ada() == [1000, 0])
        }
    }

    @Test("no hint is lost while the provider does not answer")
    func silence() async throws {
        try await withPayment { evidence, id, reference in
            evidence.provider.has(reference, .failed(reason: nil))
            evidence.provider.isSilent(.unavailable(status: 503))
            let later = JobOutcome.again(reason: "provider_not_answering", after: nil)
            for attempt in [1, 50] {
                let outcome = try await evidence.hears(.failed, of: id, attempt: attempt)
                #expect(outcome == later)
            }
            #expect(try await evidence.state(of: id) == "submitted")
            evidence.provider.isSilent(nil)
            #expect(try await evidence.hears(.failed, of: id, attempt: 51) == .done)
            #expect(try await evidence.ada() == [1000, 0])
        }
    }

    @Test("that money arrived is believed under the provider's own id, and asked about under any other")
    func successful() async throws {
        try await withPayment { evidence, id, reference in
            let other = try await evidence.hears(.successful, of: id, as: "7-anc_trsf")
            #expect(other == Self.unconfirmed && evidence.provider.questions == 1)
            #expect(try await evidence.state(of: id) == "submitted")
            #expect(try await evidence.hears(.successful, of: id) == .done)
            #expect(try await evidence.hears(.successful, of: id, as: "7-anc_trsf") == .done)
            #expect(try await evidence.state(of: id) == "completed")
            #expect(evidence.provider.questions == 1)
        }
    }
}

@Suite("An order that was not taken")
struct RefusedOrderTests {
    private static let insufficient = AnchorError.refused(
        status: 400,
        title: "Bad Request",
        code: .insufficientFunds
    )

    @Test("is not sent when its time is nearly up, by either clock, and is not waited for")
    func late() async throws {
        try await withPayment(sent: false) { evidence, id, _ in
            let clock = JumpingClock(at: evidence.world.clock.now, step: 9.5)
            let outcome = try await evidence.submits(id, by: clock)
            #expect(outcome == .again(reason: "not_sent_in_time", after: .seconds(20)))
            #expect(evidence.provider.orders == [])
            #expect(try await evidence.calls(of: id) == ["unsent"])
            #expect(try await evidence.state(of: id) == "submitted")
        }
    }

    @Test("has no more time than until the deadline that was committed")
    func onTime() async throws {
        try await withPayment(sent: false) { evidence, id, _ in
            _ = try await evidence.submits(id, by: JumpingClock(at: evidence.world.clock.now, step: 4))
            let deadlines = evidence.provider.deadlines
            #expect(deadlines.count == 1 && deadlines.allSatisfy { $0 < .seconds(7) && $0 > .seconds(1) })
        }
    }

    @Test("fails at once when the refusal proves it, and is asked about when it does not")
    func first() async throws {
        try await withPayment(sent: false) { evidence, id, _ in
            evidence.provider.refuses(.refused(status: 409, title: "Conflict", code: .doubtful))
            _ = try await evidence.submits(id)
            #expect(try await evidence.state(of: id) == "unknown")
            #expect(try await evidence.calls(of: id) == ["lost"])
            #expect(try await evidence.ada() == [1000, 100])
            let other = try await evidence.world.pays("bayo", 100)
            evidence.provider.refuses(Self.insufficient)
            #expect(try await evidence.submits(other) == .done)
            #expect(try await evidence.state(of: other) == "failed")
            #expect(try await evidence.calls(of: other) == ["refused"])
        }
    }

    /// The first call has no answer; the order is sent again once the provider has known nothing of it for long enough.
    private static func isRefusedAtTheSecondTry(_ id: UUID, _ evidence: Evidence) async throws {
        evidence.provider.refuses(.timedOut(sent: true))
        _ = try await evidence.submits(id)
        evidence.provider.refuses(Self.insufficient)
        for seconds in [131, 121] {
            try await evidence.world.passes(.seconds(seconds))
            _ = try await evidence.submits(id)
        }
    }

    @Test("by the second try is asked about for the first, and fails when the provider has none")
    func second() async throws {
        try await withPayment(sent: false) { evidence, id, reference in
            try await Self.isRefusedAtTheSecondTry(id, evidence)
            #expect(evidence.provider.orders == [reference, reference])
            #expect(try await evidence.calls(of: id) == ["lost", "refused"])
            #expect(try await evidence.state(of: id) == "unknown")
            for seconds in [131, 121] {
                #expect(try await evidence.ada() == [1000, 100])
                try await evidence.world.passes(.seconds(seconds))
                _ = try await evidence.submits(id)
            }
            #expect(evidence.provider.orders == [reference, reference])
            #expect(try await evidence.state(of: id) == "failed")
            #expect(try await evidence.ada() == [1000, 0])
        }
    }

    @Test("by the second try has been taken all the same when the first arrived")
    func arrived() async throws {
        try await withPayment(sent: false) { evidence, id, reference in
            try await Self.isRefusedAtTheSecondTry(id, evidence)
            evidence.provider.has(reference, .completed)
            #expect(try await evidence.submits(id) == .done)
            #expect(try await evidence.state(of: id) == "completed")
            #expect(try await evidence.ada() == [900, 0])
        }
    }
}
