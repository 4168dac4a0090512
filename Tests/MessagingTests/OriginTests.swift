import Contracts
import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import AMQP
@testable import Messaging

@Suite("Whose events are believed")
struct OriginTests {
    private let user = UUID()

    /// A delivery by the exchange, with the key of a kind.
    private func delivery(
        _ body: Data,
        by type: EventType,
        from exchange: String = Topology.exchange,
        headers: [String: AMQPValue] = [:]
    ) -> AMQPDelivery {
        AMQPDelivery(
            tag: 1,
            redelivered: false,
            exchange: exchange,
            routingKey: Topology.routingKey(type: type, subject: self.user.lowercased),
            messageID: nil,
            correlationID: nil,
            type: nil,
            timestamp: nil,
            contentType: nil,
            headers: headers,
            body: Array(body)
        )
    }

    @Test("an event whose source does not publish its kind goes to the dead letters, and holds nothing up")
    func wrongSource() async throws {
        try await Kit.with { kit in
            let till = Till()
            let id = ids.next()
            let consumer = try kit.consumer(till.handlers(), recall: nil)
            let kind = WalletCredited.type
            let settlement = await consumer.settle([
                self.delivery(try envelope(self.user, 1, id: id, source: "subscription"), by: kind),
                self.delivery(try envelope(self.user, 2), by: kind),
            ])
            #expect(settlement == BatchSettlement(acknowledged: 2, rejected: [0]))
            // The forged one took the id of a true one, which still takes effect.
            let later = await consumer.settle([self.delivery(try envelope(self.user, 3, id: id), by: kind)])
            #expect(later == BatchSettlement(acknowledged: 1, rejected: []))
            #expect(till.seen == [2, 3])
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 0)
            #expect(try await kit.number("SELECT count(*) FROM inbox") == 2)
        }
    }

    @Test(
        "an event that came by the key of another kind, or round a corner, goes to the dead letters, whatever it says"
    )
    func wrongKey() async throws {
        try await Kit.with { kit in
            let till = Till()
            let consumer = try kit.consumer(till.handlers(), recall: nil)
            // What subscription may write, with what only account may say.
            let kind = WalletCredited.type
            let settlement = await consumer.settle([
                self.delivery(try envelope(self.user, 1), by: "subscription.activated"),
                self.delivery(try envelope(self.user, 2), by: "redited"),
                self.delivery(try envelope(self.user, 3), by: kind),
                self.delivery(try envelope(self.user, 4), by: kind, from: Topology.deadLetterExchange),
                self.delivery(try envelope(self.user, 5), by: kind, headers: ["x-death": .string("here")]),
            ])
            #expect(settlement == BatchSettlement(acknowledged: 5, rejected: [0, 1, 3, 4]))
            #expect(till.seen == [3])
            #expect(try await kit.number("SELECT count(*) FROM inbox") == 1)
        }
    }

    @Test("a replay, wet or dry, refuses an event of another source; a retry of a parked one does too")
    func replayed() async throws {
        try await Kit.with { kit in
            let till = Till()
            let forged = try envelope(self.user, 1, source: "subscription")
            for mode in [ReplayOrder.Mode.run, .dryRun] {
                let answer = try await kit.replay([forged, try envelope(UUID(), 2)], till.handlers(), mode)
                #expect(answer.results.map(\.outcome) == [.refused, .applied])
                #expect(answer.results[0].reason == "wrong_source")
            }
            #expect(till.seen == [2, 2])
            // Whatever puts it among the parked.
            let event = try #require(IncomingEvent(body: forged))
            _ = try await kit.processor(till.handlers()).process([event])
            #expect(try await kit.texts("SELECT reason FROM parked_events") == ["wrong_source"])
            let retried = try await kit.retry(self.user, till.handlers())
            #expect(retried == .failedAgain(applied: 0, reason: "wrong_source"))
            let effects = try await kit.effects(of: self.user)
            #expect(effects.isEmpty)
        }
    }

    @Test("every kind has one publisher; of a kind that nobody knows, anybody may be it")
    func publishers() {
        for definition in EventCatalogue.all {
            for service in ServiceName.allCases {
                let isPublisher = EventCatalogue.isPublisher(service.rawValue, of: definition.type)
                #expect(isPublisher == (service == definition.source), "\(definition.type.rawValue)")
            }
        }
        #expect(EventCatalogue.isPublisher("somebody", of: "something.new"))
        #expect(ServiceName.allCases.flatMap(EventCatalogue.types(publishedBy:)).count == EventCatalogue.all.count)
    }
}
