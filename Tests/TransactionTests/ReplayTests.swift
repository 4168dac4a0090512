import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Handling events again")
struct ReplayTests {
    private static let request = UUIDv7Source().next()

    @Test("a dry run names exactly what a changed rule would do otherwise, and writes nothing")
    func changedRule() async throws {
        try await withTransaction { world in
            let bodies = try Self.past(world)
            let first = try await Self.replay(bodies, world, world.handlers, .run, effects: .on)
            #expect(first.results.allSatisfy { $0.outcome == .applied })
            let before = try await world.database.checksums()
            let same = try await Self.replay(bodies, world, world.handlers, .dryRun)
            #expect(same.changes.map { "\($0.change) \($0.name)" } == [])

            // Who has said nothing about requests is asked by nobody, and of each credit a tenth is kept back.
            var changed = world.handlers
            changed.replace(UserSettingsChanged.self) { event, transaction in
                var event = event
                if event.data.whoMayRequest == nil { event.data.whoMayRequest = Open(.nobody) }
                try await ReadModelStore().settingsChanged(event, transaction)
            }
            changed.replace(WalletCredited.self) { event, transaction in
                var credit = WalletCredit(
                    providerPaymentID: event.data.providerPaymentID,
                    account: event.data.anchorAccountID,
                    amount: event.data.amount - event.data.amount / 10,
                    correlation: event.attributes.correlationid
                )
                credit.reference = event.data.reference
                let subject = event.data.userID.lowercased
                let key = credit.providerPaymentID
                try await transaction.enqueue(TransactionJob.credit, key: key, subject: subject, payload: credit)
            }
            let answer = try await Self.replay(bodies, world, changed, .dryRun)
            #expect(try await world.database.checksums() == before)
            #expect(answer.results.allSatisfy { $0.outcome == .applied })
            let ada = world.ada.description
            #expect(
                answer.changes.map { "\($0.change) \($0.name) \($0.key)" }
                    == ["updated users \(ada)", "changed credit_wallet payment-1"]
            )
            #expect(answer.changes.map(\.causedBy) == [[try Self.id(bodies[1])], [try Self.id(bodies[2])]])
            #expect(answer.differing == 2)
        }
    }

    /// Bayo chooses a policy, Ada leaves it as it is, and money comes for Ada.
    private static func past(_ world: TransactionWorld) throws -> [Data] {
        let chosen = UserSettingsChanged(
            userID: world.bayo.uuid,
            allowSending: true,
            receivingPreference: Open(.wallet),
            whoMayRequest: Open(.nobody)
        )
        let left = UserSettingsChanged(
            userID: world.ada.uuid,
            allowSending: true,
            receivingPreference: Open(.external)
        )
        let credit = WalletCredited(
            userID: world.ada.uuid,
            paymentID: world.ids.next(),
            providerPaymentID: "payment-1",
            anchorAccountID: "ada-account",
            amount: 5000,
            timestamp: Timestamp.text(world.clock.now)
        )
        return [
            try self.envelope(chosen, about: world.bayo, from: "customer", world),
            try self.envelope(left, about: world.ada, from: "customer", world),
            try self.envelope(credit, about: world.ada, from: "account", world),
        ]
    }

    private static func envelope<Payload: EventData>(
        _ data: Payload,
        about user: UserID,
        from source: String,
        _ world: TransactionWorld
    ) throws -> Data {
        let attributes = EventAttributes(
            id: world.ids.next(),
            source: source,
            type: Payload.type,
            majorVersion: Payload.majorVersion,
            subject: user.description,
            time: Timestamp.text(world.clock.now),
            sequence: 2,
            correlationid: self.request
        )
        return try EventEnvelope.body(
            attributes,
            dataJSON: String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        )
    }

    private static func id(_ body: Data) throws -> UUID { try EventEnvelope.attributes(in: body).id }

    private static func replay(
        _ bodies: [Data],
        _ world: TransactionWorld,
        _ handlers: EventHandlers,
        _ mode: ReplayOrder.Mode,
        effects: ReplayOrder.Effects = .off
    ) async throws -> ReplayAnswer {
        let order = ReplayOrder(id: world.ids.next(), mode: mode, effects: effects, order: .grace)
        return try await world.service.operations(handlers).replay(bodies, as: order)
    }
}
