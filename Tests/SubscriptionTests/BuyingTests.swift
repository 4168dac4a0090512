import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import SubscriptionService

@Suite("Buying a plan", .serialized)
struct BuyingTests {
    @Test("a plan is active when its first charge was paid, and not before")
    func first() async throws {
        try await withSubscription { world in
            try await world.joins()
            #expect(try await world.subscribe(price: 150_000))
            let asked = try #require(try await world.asked().first)
            #expect(asked.reference == Charge.reference(of: world.ada, world.clock.now))
            #expect(asked.amount == 150_000 && asked.attempt == 1 && asked.plan == "plus")
            let open = try await world.status()
            #expect(open.status == "pending" && open.plan == "free" && open.lastCharge?.status == "pending")

            try await world.pay()
            let status = try await world.status()
            #expect(status.status == "active" && status.plan == "plus" && status.renewsAs == "plus")
            #expect(status.lastCharge?.status == "paid" && status.lastCharge?.transactionID != nil)
            let event = try #require(try await world.last(SubscriptionActivated.self))
            let paid = try #require(status.lastCharge?.decidedAt).moment
            let end = try event.activeUntil.moment
            #expect(event.activeUntil == Timestamp.text(Anniversary.of(paid, after: paid)))
            #expect(event.graceUntil == Timestamp.text(end.addingTimeInterval(3 * 86_400)))
            #expect(status.activeUntil == event.activeUntil && status.graceUntil == event.graceUntil)
            #expect(try await world.told() == ["charge_requested", "activated"])
        }
    }

    @Test("a first charge that is refused says why and leaves the free plan, and can be ordered again the same day")
    func refused() async throws {
        try await withSubscription { world in
            try await world.goesToMorning()
            try await world.joins()
            try await world.subscribe()
            try await world.refuse()
            let status = try await world.status()
            #expect(status.status == "free" && status.lastCharge?.status == "refused")
            #expect(status.lastCharge?.reason == "insufficient_funds")
            let event = try #require(try await world.last(SubscriptionPaymentFailed.self))
            #expect(event.reason == "insufficient_funds" && event.retryAt == nil && event.graceUntil == nil)
            // Nothing is tried again by itself.
            try await world.goes(to: world.clock.now.addingTimeInterval(3600))
            #expect(try await world.asked().count == 1)

            try await world.subscribe("gold")
            let asked = try await world.asked()
            #expect(asked.map(\.attempt) == [1, 2] && asked[0].reference == asked[1].reference)
            #expect(asked[1].amount == 500_000)
            try await world.pay()
            #expect(try await world.status().plan == "gold")
        }
    }

    @Test("while a charge is open nothing else can be ordered or ended")
    func pending() async throws {
        try await withSubscription { world in
            await #expect(throws: SubscriptionError.notOnboarded) { try await world.subscribe() }
            try await world.joins()
            await #expect(throws: SubscriptionError.notSubscribed) { try await world.unsubscribe() }
            try await world.subscribe()
            await #expect(throws: SubscriptionError.chargePending) { try await world.subscribe("gold") }
            await #expect(throws: SubscriptionError.chargePending) { try await world.unsubscribe() }
            #expect(try await world.asked().count == 1)
        }
    }

    @Test("a plan that is not sold or costs something else is not ordered")
    func unsold() async throws {
        try await withSubscription { world in
            try await world.joins()
            await #expect(throws: SubscriptionError.planUnknown) { try await world.subscribe("silver") }
            await #expect(throws: SubscriptionError.priceChanged) { try await world.subscribe(price: 1) }
            #expect(try await world.status().status == "free")
            #expect(try await world.said() == [])
        }
    }

    @Test("an answer that comes twice, late or for another attempt changes nothing")
    func repeated() async throws {
        try await withSubscription { world in
            try await world.joins()
            try await world.subscribe()
            try await world.refuse()
            try await world.subscribe()
            let stale = SubscriptionChargeRefused(
                userID: world.ada.uuid,
                reference: try await world.asked()[0].reference,
                attempt: 1,
                amount: 150_000,
                reason: "insufficient_funds",
                timestamp: Timestamp.text(world.clock.now)
            )
            try await world.hear(stale)
            #expect(try await world.status().status == "pending")
            try await world.pay()
            let before = try await world.status()
            try await world.pay()
            try await world.refuse()
            #expect(try await world.status() == before)
            #expect(try await world.told().filter { $0 == "activated" }.count == 1)
        }
    }

    @Test("a payment that nobody waits for is not swallowed")
    func unexpected() async throws {
        try await withSubscription { world in
            try await world.joins()
            await #expect(throws: UnexpectedPayment.self) {
                try await world.hear(
                    SubscriptionChargePaid(
                        userID: world.ada.uuid,
                        reference: Charge.reference(of: world.ada, world.clock.now),
                        attempt: 1,
                        amount: 150_000,
                        transactionID: world.ids.next(),
                        timestamp: Timestamp.text(world.clock.now)
                    )
                )
            }
        }
    }

    @Test("an approval works once, and a revoked device approves nothing")
    func approvals() async throws {
        try await withSubscription { world in
            let approvals = ApprovalStore()
            let nonce = world.ids.next()
            let spend = {
                try await world.asUser(world.ada) { try await approvals.spend(nonce, of: world.ada, in: $0) }
            }
            #expect(try await spend())
            #expect(try await !spend())
            try await world.work.transaction(cause: Cause()) { try await approvals.prune(in: $0) }
            #expect(try await !spend())
            world.clock.advance(by: .seconds(86_401))
            try await world.work.transaction(cause: Cause()) { try await approvals.prune(in: $0) }
            #expect(try await world.database.psql("SELECT * FROM approval_nonces") == [])

            let point = Base64URL.encode([4] + [UInt8](repeating: 1, count: 64))
            let device = world.ids.next()
            let time = Timestamp.text(world.clock.now)
            // The revocation may be heard first.
            try await world.hear(DeviceRevoked(userID: world.ada.uuid, deviceID: device, revokedAt: time), sequence: 2)
            try await world.hear(
                DeviceRegistered(userID: world.ada.uuid, deviceID: device, publicKey: point, activatedAt: time)
            )
            let question = ApprovalFacts.Question(user: world.ada, device: device, sessions: ["sess_1"])
            let facts = { try await ApprovalFactStore().facts(question, on: world.requests.client) }
            #expect(try await facts() == ApprovalFacts(deviceKey: nil))
            // In whichever order they are heard, the newest that ends what PINs approved counts.
            try await world.hear(PINChanged(userID: world.ada.uuid, changeID: device, changedAt: time), sequence: 9)
            try await world.hear(PINLocked(userID: world.ada.uuid, lockID: device, lockedUntil: time), sequence: 8)
            try await world.hear(SessionEnded(userID: world.ada.uuid, sessionID: "sess_1", endedAt: time), sequence: 3)
            #expect(try await facts() == ApprovalFacts(deviceKey: nil, pinSequence: 9, hasEndedSession: true))
            #expect(try await world.database.psql("SELECT count(*) FROM devices WHERE revoked_at IS NOT NULL") == ["1"])
        }
    }
}
