import Contracts
import Foundation
import NIOHTTP1
import Primitives
import TestSupport
import Testing

/// Spans as somebody else's collector gets them.
extension Faults {
    @Suite struct SpanTests {
        @Test("P2P Transfer, external: the spans of all services are one tree below the request, and hold no names")
        func payment() async throws {
            let suite = try RunningSuite.current
            try await SpanCollector.with(address: suite.hostAddress) { collector in
                try await suite.restart(with: ["OTEL_EXPORTER_OTLP_ENDPOINT": collector.url])
                do {
                    try await Self.pay(suite, collector)
                } catch {
                    try await suite.restart()
                    throw error
                }
                try await suite.restart()
            }
        }

        private static func pay(_ suite: RunningSuite, _ collector: SpanCollector) async throws {
            let ada = try await suite.person("spanada", funding: 100_000)
            let bola = try await suite.person("spanbola")
            try await suite.addBankAccount(of: bola)
            try await suite.subscribe(bola)
            let reply = try await suite.pay(try PaymentOrder(from: ada, to: bola.username, 7000))
            let payment = try reply.decode(P2PResponse.self).transactionID
            try await suite.await(payment, "completed", within: .seconds(40))
            let place = try #require(reply.header("traceparent")).split(separator: "-")
            let wanted: Set<String> = [
                "transaction POST /transactions/p2p", "transaction job submit_transfer",
                "transaction provider create_transfer", "notification process transaction.completed",
                "analytics process transaction.completed",
            ]
            try await eventually("the spans of the payment", within: .seconds(20)) {
                let seen = try collector.spans(of: place[1]).map { "\($0.service ?? "?") \($0.name)" }
                return wanted.isSubset(of: seen)
            }
            // Whatever is still under way: a handler tells of itself after what it has caused may have begun.
            try await eventually("the parents of all spans", within: .seconds(20)) {
                let spans = try collector.spans(of: place[1])
                let known = Set(spans.map(\.spanId))
                #expect(known.count == spans.count)
                let roots = spans.filter { $0.parentSpanId == nil }
                return roots.map(\.spanId) == [String(place[2])]
                    && spans.allSatisfy { $0.parentSpanId.map(known.contains) ?? true }
            }
            for name in [ada.username, bola.username] { #expect(!collector.text().contains(name)) }
        }
    }
}
