import Contracts
import EventLoops
import Foundation
import TestSupport
import Testing

/// People who pay somebody, one payment after the other, while something happens to the suite.
struct PaymentLoad: Sendable {
    /// A payment that was asked for, and what came back.
    struct Payment: Sendable {
        let order: PaymentOrder
        let amount: Int64
        /// Nil when nothing did.
        let reply: Reply?
    }

    static let funding: Int64 = 400_000
    private static let pause = Duration.milliseconds(150)

    let suite: RunningSuite
    let payers: [Person]
    let payee: Person

    /// Signs the people up and gives the payers money.
    static func make(_ name: String, on suite: RunningSuite) async throws -> PaymentLoad {
        var payers: [Person] = []
        for number in 0..<3 { payers.append(try await suite.person("\(name)\(number)", funding: Self.funding)) }
        return PaymentLoad(suite: suite, payers: payers, payee: try await suite.person("\(name)payee"))
    }

    /// Payments before, during and after `body`, and all that was asked for.
    func around(_ body: (Log) async throws -> Void) async throws -> [Payment] {
        let log = Log()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for payer in self.payers { group.addTask { try await self.payAgainAndAgain(payer, log) } }
            try await log.awaitMore(10)
            do {
                try await body(log)
                try await log.awaitMore(10)
                log.end()
            } catch {
                log.end()
                throw error
            }
            try await group.waitForAll()
        }
        return log.payments
    }

    private func payAgainAndAgain(_ payer: Person, _ log: Log) async throws {
        var amount: Int64 = 100
        while !log.isEnded {
            let order = try PaymentOrder(from: payer, to: self.payee.username, amount)
            log.add(Payment(order: order, amount: amount, reply: try? await self.suite.pay(order)))
            amount += 1
            try await Task.sleep(for: Self.pause)
        }
    }

    /// What was asked for so far.
    final class Log: Sendable {
        private let state = Locked<(payments: [Payment], isEnded: Bool)>(([], false))

        var payments: [Payment] { self.state.withLock { $0.payments } }
        var isEnded: Bool { self.state.withLock { $0.isEnded } }

        func add(_ payment: Payment) { self.state.withLock { $0.payments.append(payment) } }

        func end() { self.state.withLock { $0.isEnded = true } }

        /// Waits until so many more payments were asked for.
        func awaitMore(_ count: Int) async throws {
            let wanted = self.payments.count + count
            try await eventually("payments to be answered", within: .seconds(60)) { self.payments.count >= wanted }
        }
    }
}

extension PaymentLoad {
    /// All were accepted, all end, each moved its money once, and everybody heard everything.
    func check(_ payments: [Payment]) async throws {
        #expect(payments.map { $0.reply?.status ?? 0 }.filter { $0 != 202 } == [])
        let ids = try payments.compactMap { try $0.reply?.decode(P2PResponse.self).transactionID }
        #expect(Set(ids).count == payments.count)
        try await self.awaitEnds()
        for payer in self.payers {
            let paid = payments.filter { $0.order.payer.id == payer.id }.reduce(0) { $0 + $1.amount }
            let left = Self.funding - paid
            let wanted = WalletResource(available: left, posted: left, held: 0, currency: "NGN")
            #expect(try await self.suite.wallet(payer) == wanted)
        }
        let total = payments.reduce(0) { $0 + $1.amount }
        #expect(try await self.suite.wallet(self.payee).posted == total)
        for id in ids { #expect(try await self.suite.acceptedByProvider(id) == 1) }
        #expect(try await self.suite.brokenInvariants() == [])
        try await self.suite.awaitEverythingHeard()
        let shown = try await self.suite.call("GET", .analytics, "/analytics/summary", as: self.payee.subject)
        #expect(try shown.decode(AnalyticsSummary.self).inWallet == total)
    }

    /// Waits until no transfer is open.
    func awaitEnds() async throws {
        try await eventually("all transfers to end", within: .seconds(60), every: .milliseconds(250)) {
            var open = 0
            for payer in self.payers { open += try await self.suite.openTransfers(of: payer) }
            return open == 0
        }
    }
}

extension RunningSuite {
    /// Waits until whatever was published was handled by all who listen, and nothing waits to be published.
    func awaitEverythingHeard() async throws {
        for name in SuiteEnvironment.names {
            try await eventually("an empty outbox of \(name)", within: .seconds(60), every: .milliseconds(200)) {
                try await self.number("SELECT count(*) FROM outbox WHERE sent_at IS NULL", of: name) == 0
            }
        }
        let published = try await self.published()
        try await eventually("everything to be heard", within: .seconds(60), every: .milliseconds(500)) {
            let missing = try await self.unheard(published)
            guard missing.isEmpty else { throw TestFailure("\(missing.count) are missing: \(missing.prefix(5))") }
            return true
        }
        for name in SuiteEnvironment.names {
            #expect(try await self.rows(name, "SELECT type, reason FROM parked_events") == [])
            #expect(try await self.number(Self.overtaken, of: name) == 0)
        }
    }

    /// Events that were handled before an earlier one of the same source and subject.
    private static let overtaken = """
        SELECT count(*) FROM (
            SELECT handled_at < max(handled_at) OVER (PARTITION BY source, subject ORDER BY sequence) AS late FROM inbox
        ) i WHERE late
        """

    /// What each service has published, as "id type".
    private func published() async throws -> [String] {
        var all: [String] = []
        for name in SuiteEnvironment.names { all += try await self.rows(name, "SELECT id || ' ' || type FROM outbox") }
        return all
    }

    /// What was published and not handled by somebody who listens.
    func unheard() async throws -> [String] { try await self.unheard(try await self.published()) }

    private func unheard(_ published: [String]) async throws -> [String] {
        var missing: [String] = []
        for service in ServiceName.allCases {
            let types = Set(EventCatalogue.types(consumedBy: service).map(\.rawValue))
            let known = Set(try await self.rows(service.rawValue, "SELECT id FROM inbox"))
            for event in published {
                let parts = event.split(separator: " ").map(String.init)
                guard types.contains(parts[1]), !known.contains(parts[0]) else { continue }
                missing.append("\(parts[1]) for \(service.rawValue)")
            }
        }
        return missing
    }
}
