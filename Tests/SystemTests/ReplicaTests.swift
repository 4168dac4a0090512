import Contracts
import Foundation
import TestSupport
import Testing

extension Faults {
    /// Two processes of transaction on the same databases.
    @Suite struct ReplicaTests {
        @Test(
            "through two replicas a payer sends what the daily limit allows, and recipients take five free slots each"
        )
        func limits() async throws {
            let suite = try RunningSuite.current
            try await suite.letSmallSumsTakeSlots()
            let payer = try await suite.person("payer", funding: 200_000)
            var payees: [Person] = []
            for _ in 0..<3 {
                let payee = try await suite.person("payee")
                try await suite.addBankAccount(of: payee)
                payees.append(payee)
            }
            try await suite.rows(
                "transaction",
                "INSERT INTO user_limits (user_id, per_day) VALUES ('\(payer.id)', 80000)"
            )
            // Each replica gets 60 of the orders, of which 80 are within the limit: both have to accept some.
            let orders = try (0..<120).map { try PaymentOrder(from: payer, to: payees[$0 / 2 % 3].username, 1000) }
            let answers = try await suite.withReplica(of: "transaction") { replica in
                let answers = try await suite.payAtOnce(orders, at: [replica])
                try await eventually("all to end", within: .seconds(60), every: .milliseconds(200)) {
                    try await suite.openTransfers(of: payer) == 0
                }
                return answers
            }

            let refused = answers.filter { $0.status != 202 }
            #expect(refused.count == 40)
            #expect(Set(refused.map(\.status)) == [422])
            #expect(Set(refused.map { $0.error?.code }) == ["limit_per_day"])
            let ours = answers.enumerated().filter { $0.element.status == 202 }.map(\.offset)
            #expect(Set(ours.map { $0 % 2 }) == [0, 1], "only one of the replicas accepted anything")
            var external = 0
            for (number, payee) in payees.enumerated() {
                let accepted = answers.enumerated().filter { $0.offset / 2 % 3 == number && $0.element.status == 202 }
                let bodies = try accepted.map { try $0.element.decode(P2PResponse.self) }
                let toBank = bodies.filter { $0.route == "external" }
                #expect(toBank.count == min(5, bodies.count))
                for body in bodies {
                    let kind = body.route == "external" ? "NIP_TRANSFER" : "BOOK_TRANSFER"
                    #expect(try await suite.takenByProvider(body.transactionID) == [kind])
                }
                let slots = "SELECT slots_used FROM receiving_counters WHERE user_id = '\(payee.id)'"
                #expect(try await suite.number(slots) == toBank.count)
                external += toBank.count
            }
            #expect(external >= 5)
            #expect(try await suite.wallet(payer).posted == 200_000 - 80_000)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("one key sent to two replicas at once is one payment: the same answer, or 409 while it runs")
        func oneKey() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("onekey", funding: 100_000)
            let payee = try await suite.person("payee")
            let orders = try (0..<25).map { try PaymentOrder(from: payer, to: payee.username, 100 + Int64($0)) }
            try await suite.withReplica(of: "transaction") { replica in
                // Each four times in a row, so twice at each of the two.
                let answers = try await suite.payAtOnce(orders.flatMap { [$0, $0, $0, $0] }, at: [replica])
                for (number, order) in orders.enumerated() {
                    let mine = answers[(number * 4)..<(number * 4 + 4)]
                    // First: Swift 6.3 takes a closure that follows one of the same type in a macro for that one.
                    let accepted = mine.filter { $0.status == 202 }
                    #expect(mine.allSatisfy { $0.status == 202 || $0.status == 409 })
                    #expect(Set(accepted.map(\.body)).count == 1)
                    #expect(accepted.filter { !$0.isReplay }.count == 1)
                    for target in [nil, replica] {
                        let again = try await suite.pay(order, at: target)
                        #expect(again.status == 202 && again.isReplay && again.body == accepted.first?.body)
                    }
                }
                try await eventually("all to end", within: .seconds(60), every: .milliseconds(200)) {
                    try await suite.openTransfers(of: payer) == 0
                }
            }
            let sent = "SELECT count(*) FROM transfers WHERE sender_id = '\(payer.id)' AND state = 'completed'"
            #expect(try await suite.number(sent) == 25)
            let total = Int64((0..<25).reduce(0) { $0 + 100 + $1 })
            #expect(try await suite.wallet(payer).posted == 100_000 - total)
            #expect(try await suite.wallet(payee).posted == total)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("of two replicas one relays; when it is killed the other takes over and nothing is lost or doubled")
        func takeover() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("takeover", funding: 200_000)
            let payee = try await suite.person("payee")
            let orders = try (0..<80).map { try PaymentOrder(from: payer, to: payee.username, 1000 + Int64($0)) }
            var ids: Set<UUID> = []
            try await suite.withReplica(of: "transaction") { replica in
                try await suite.killUnderLoad(orders, beside: replica)
                let again = try await suite.payAtOnce(orders, only: replica)
                #expect(Set(again.map(\.status)) == [202])
                ids = try Set(again.map { try $0.decode(P2PResponse.self).transactionID })
                try await eventually("the other to relay", within: .seconds(30), every: .milliseconds(100)) {
                    replica.process.log.contains(Self.relays)
                }
                #expect(try await suite.number(Self.leaders) == 1)
                // Its jobs, its relay and its consumer carry a payment to the end.
                let order = try PaymentOrder(from: payer, to: payee.username, 5)
                let last = try await suite.pay(order, at: replica).decode(P2PResponse.self).transactionID
                try await suite.await(last, "completed", within: .seconds(40))
                ids.insert(last)
                try await suite.start("transaction")
                #expect(try await suite.number(Self.leaders) == 1)
            }
            try await suite.end(of: payer)
            #expect(ids.count == 81)
            for id in ids { #expect(try await suite.acceptedByProvider(id) == 1) }
            let total = Int64((0..<80).reduce(5) { $0 + 1000 + $1 })
            #expect(try await suite.wallet(payer).posted == 200_000 - total)
            #expect(try await suite.wallet(payee).posted == total)
            #expect(try await suite.brokenInvariants() == [])
            try await eventually("all events to be sent", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.number("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
            }
            // Whoever listens heard of every payment, and once.
            try await eventually("analytics to know the payments", within: .seconds(30), every: .milliseconds(100)) {
                let answer = try await suite.call("GET", .analytics, "/analytics/summary", as: payee.subject)
                let found = try answer.decode(AnalyticsSummary.self).inWallet
                guard found == total else { throw TestFailure("it knows of \(found) of \(total) kobo") }
                return true
            }
        }

        private static let relays = "this replica relays"
        /// How many sessions hold the lock that elects the relay.
        private static let leaders = """
            SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND (classid::bigint << 32) | objid::bigint = hashtextextended('relay', 0)
            """
    }
}

extension RunningSuite {
    /// Sends orders to the suite's transaction and to a replica in turn, and kills the first, which relays, under them.
    fileprivate func killUnderLoad(_ orders: [PaymentOrder], beside replica: Replica) async throws {
        let leader = try self.process("transaction")
        guard let payer = orders.first?.payer.id else { return }
        guard !replica.process.log.contains("this replica relays") else { throw TestFailure("both replicas relay") }
        await withTaskGroup(of: Void.self) { group in
            for (number, order) in orders.enumerated() {
                group.addTask { _ = try? await self.pay(order, at: number.isMultiple(of: 2) ? nil : replica) }
            }
            try? await eventually("payments under way", within: .seconds(10), every: .milliseconds(5)) {
                try await self.number("SELECT count(*) FROM transfers WHERE sender_id = '\(payer)'") > 10
            }
            await leader.kill()
        }
        try await self.expireLeases()
    }

    /// Asks one replica for all of them at once.
    fileprivate func payAtOnce(_ orders: [PaymentOrder], only replica: Replica) async throws -> [Reply] {
        try await withThrowingTaskGroup(of: Reply.self) { group in
            for order in orders { group.addTask { try await self.pay(order, at: replica) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
