import Contracts
import Foundation
import TestSupport
import Testing

extension ServiceFaults {
    /// Stories in which a server goes away while people pay.
    ///
    /// The broker, Redis and the Postgres of all services but auth and transaction are the suite's own.
    @Suite(.serialized, .runningSuite(.hurt(safe: ["auth", "transaction"])))
    struct OutageTests {
        @Test("RabbitMQ is killed and gone for 20 s: payments are accepted, and all is heard in order when it is back")
        func broker() async throws {
            let suite = try RunningSuite.current
            let load = try await PaymentLoad.make("broker", on: suite)
            let pids = suite.pids
            // The sandbox and who plays Apple too.
            #expect(pids.count == SuiteEnvironment.names.count + 2)
            try await suite.listen("listener.outage")
            let payments = try await load.around { log in
                // RabbitMQ writes down what was declared up to two seconds later: killed before, it would forget the listener.
                try await Self.pass(.seconds(5), log)
                try await suite.control.kill(.rabbitmq)
                try await Self.pass(.seconds(20), log)
                let unsent = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"
                #expect(try await suite.number(unsent) > 0)
                try await suite.control.start(.rabbitmq)
            }
            try await load.check(payments)
            #expect(suite.pids == pids)
            let transfers = Set(
                try payments.compactMap { try $0.reply?.decode(P2PResponse.self).transactionID.uuidString.lowercased() }
            )
            #expect(transfers.count == payments.count)
            let heard = try await suite.heard(by: "listener.outage", untilEnded: transfers)
            Self.checkOrder(heard, transfers)
        }

        /// Every transfer was told of from its beginning to its end, and no subject's events changed their order.
        private static func checkOrder(_ heard: [EventAttributes], _ transfers: Set<String>) {
            let subjects = Dictionary(grouping: heard) { "\($0.source) \($0.subject)" }
            let shuffled = subjects.values.map { $0.map(\.sequence) }.filter { sequences in
                sequences != Array(sequences[0]..<sequences[0] + Int64(sequences.count))
            }
            #expect(shuffled == [])
            let incomplete = transfers.filter { transfer in
                let types = (subjects["transaction \(transfer)"] ?? []).map(\.type)
                return types.first != TransactionCreated.type || types.last != TransactionCompleted.type
            }
            #expect(incomplete == [])
        }

        @Test(
            "Redis is killed, gone for 20 s and comes back empty: every payment is accepted, and a repeated key answers the same"
        )
        func redis() async throws {
            let suite = try RunningSuite.current
            let load = try await PaymentLoad.make("redis", on: suite)
            let pids = suite.pids
            let payments = try await load.around { log in
                try await suite.control.kill(.redis)
                try await Self.pass(.seconds(20), log)
                try await Self.repeatSome(of: log, suite)
                // The others do their work without it too.
                try await suite.addBankAccount(of: try await suite.person("noredis", funding: 500))
                try await suite.control.start(.redis)
                try await log.awaitMore(10)
                try await Self.repeatSome(of: log, suite)
                // Nothing of what it knows by now may be needed.
                try await suite.flushRedis()
                try await log.awaitMore(10)
                try await Self.repeatSome(of: log, suite)
            }
            try await load.check(payments)
            #expect(suite.pids == pids)
        }

        private static func repeatSome(of log: PaymentLoad.Log, _ suite: RunningSuite) async throws {
            let payments = log.payments
            for payment in [payments[0], payments[payments.count / 2], payments[payments.count - 1]] {
                let again = try await suite.pay(payment.order)
                #expect(again.status == 202 && again.isReplay && again.body == payment.reply?.body)
            }
        }

        @Test("the Postgres of five other services is killed and gone for 20 s: payments are accepted, all catch up")
        func postgres() async throws {
            let suite = try RunningSuite.current
            let load = try await PaymentLoad.make("postgres", on: suite)
            let pids = suite.pids
            let payments = try await load.around { log in
                try await suite.control.kill(.postgres)
                try await Self.pass(.seconds(20), log)
                try await suite.control.start(.postgres)
            }
            try await load.check(payments)
            #expect(suite.pids == pids)
        }

        @Test("queues of peers are deleted under load, one with a backlog: nothing is lost")
        func queues() async throws {
            let suite = try RunningSuite.current
            let load = try await PaymentLoad.make("queues", on: suite)
            let payments = try await load.around { log in
                try await suite.vhost.deleteQueue("notification.p0")
                try await log.awaitMore(20)
                // What analytics has not yet heard goes with its queue.
                await (try suite.process("analytics")).kill()
                try await Self.pass(.seconds(15), log)
                try await suite.vhost.deleteQueue("analytics.p0")
                try await log.awaitMore(20)
                try await suite.start("analytics")
            }
            try await load.check(payments)
        }

        @Test(
            "a queue lost with its publisher down is noticed by nobody; `transfactl outbox resend` brings all of it back"
        )
        func resend() async throws {
            let suite = try RunningSuite.current
            let load = try await PaymentLoad.make("resend", on: suite)
            let payments = try await load.around { log in
                await (try suite.process("analytics")).kill()
                try await log.awaitMore(20)
            }
            try await load.awaitEnds()
            let unsent = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"
            try await eventually("an empty outbox") { try await suite.number(unsent) == 0 }
            await (try suite.process("transaction")).kill()
            try await suite.vhost.deleteQueue("analytics.p0")
            try await eventually("the queue to be made again", every: .milliseconds(200)) {
                try await suite.length(of: "analytics.p0") >= 0
            }
            try await suite.start("transaction")
            try await suite.start("analytics")
            #expect(try await suite.unheard().contains("transaction.completed for analytics"))

            let order = #"{"minutes":0,"reason":"a test"}"#
            let never = try await suite.operate("POST", "transaction", "/internal/ops/outbox/resend", order)
            #expect(never.status == 400)
            let words = [
                "outbox", "resend", "--minutes", "10", "--operator", "grace", "--reason", "lost", "transaction",
            ]
            try await Command.run(try Repository.product("transfactl"), words, environment: suite.environment.tool)
            try await load.check(payments)
        }

        /// Waits until the time is over, in which payments go on.
        private static func pass(_ time: Duration, _ log: PaymentLoad.Log) async throws {
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end { try await log.awaitMore(3) }
        }
    }
}
