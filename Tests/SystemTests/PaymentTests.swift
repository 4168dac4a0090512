import Contracts
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct PaymentTests {
        @Test("of 200 payments at once from a wallet that covers 50, exactly 50 are accepted")
        func storm() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("storm", funding: 50 * 1000)
            let payee = try await suite.person("payee")
            let orders = try (0..<200).map { _ in try PaymentOrder(from: payer, to: payee.username, 1000) }
            let answers = try await suite.payAtOnce(orders)

            #expect(answers.filter { $0.status == 202 }.count == 50)
            let others = answers.filter { $0.status != 202 }
            #expect(Set(others.map(\.status)) == [422])
            #expect(Set(others.map { $0.error?.code }) == ["insufficient_funds"])
            #expect(try await suite.brokenInvariants() == [])
            try await eventually("all to end", within: .seconds(40), every: .milliseconds(200)) {
                try await suite.openTransfers(of: payer) == 0
            }
            #expect(try await suite.wallet(payer) == WalletResource(available: 0, posted: 0, held: 0, currency: "NGN"))
            #expect(try await suite.wallet(payee).posted == 50 * 1000)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("the same key 100 times at once is one payment with one answer; another body under it is refused")
        func oneKey() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("onekey", funding: 100_000)
            let payee = try await suite.person("payee")
            let order = try PaymentOrder(from: payer, to: payee.username, 700)
            let answers = try await suite.payAtOnce(Array(repeating: order, count: 100))

            let accepted = answers.filter { $0.status == 202 }
            #expect(accepted.count >= 1)
            #expect(answers.allSatisfy { $0.status == 202 || $0.status == 409 })
            #expect(Set(accepted.map(\.body)).count == 1)
            #expect(accepted.filter { !$0.isReplay }.count == 1)
            let again = try await suite.pay(order)
            #expect(again.status == 202 && again.isReplay && again.body == accepted[0].body)
            let paid = try again.decode(P2PResponse.self).transactionID
            #expect(Set(accepted.map { $0.header("Location") }) == ["/transactions/\(paid.lowercased)"])
            #expect(again.header("Location") == accepted[0].header("Location"))

            var other = try PaymentOrder(from: payer, to: payee.username, 800)
            other.key = order.key
            let refused = try await suite.pay(other)
            #expect(refused.status == 422 && refused.error?.code == "idempotency_key_reused")
            #expect(
                try await suite.number("SELECT count(*) FROM transfers WHERE sender_id = '\(payer.id)'") == 1
            )
            let id = try accepted[0].decode(P2PResponse.self).transactionID
            try await suite.await(id, "completed", within: .seconds(40))
            #expect(try await suite.wallet(payer).posted == 100_000 - 700)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("two people who pay each other 2,000 times at once lose and gain nothing, at any moment")
        func thereAndBack() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("ada", funding: 200_000)
            let bola = try await suite.person("bola", funding: 200_000)
            let orders = try (0..<2000).map { number in
                number.isMultiple(of: 2)
                    ? try PaymentOrder(from: ada, to: bola.username, 50 + Int64(number % 100))
                    : try PaymentOrder(from: bola, to: ada.username, 50 + Int64(number % 100))
            }
            let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
            let deadlocksBefore = try await suite.number(deadlocks)

            let (answers, looks) = try await suite.watching([ada, bola]) {
                let answers = try await suite.payAtOnce(orders)
                // On a busy machine a call to the provider may time out: then it takes minutes, which pass in leaps.
                for person in [ada, bola] { try await suite.end(of: person, inRealTime: .seconds(30)) }
                return answers
            }

            #expect(Set(answers.map(\.status)) == [202])
            #expect(looks.count >= 5)
            #expect(Set(looks) == [BooksLook(posted: 400_000, entries: 0, broken: 0)])
            // Of each pair of payments bola's is one kobo larger.
            #expect(try await suite.wallet(ada).posted == 200_000 + 1000)
            #expect(try await suite.wallet(bola).posted == 200_000 - 1000)
            let completed = """
                SELECT count(*) FROM transfers WHERE state = 'completed' AND sender_id IN ('\(ada.id)', '\(bola.id)')
                """
            #expect(try await suite.number(completed) == 2000)
            #expect(try await suite.number(deadlocks) == deadlocksBefore)
            #expect(try await suite.brokenInvariants() == [])
        }
    }

    @Suite struct ApprovalTests {
        @Test("a payment without an approval, or with one for another body or another person, is refused")
        func missing() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("approval", funding: 50_000)
            let payee = try await suite.person("payee", funding: 1000)
            var order = try PaymentOrder(from: payer, to: payee.username, 900)
            let small = try PaymentOrder(from: payer, to: payee.username, 1)

            order.approval = nil
            let without = try await suite.pay(order)
            #expect(without.status == 403 && without.error?.code == "approval_required")

            order.approval = small.approval
            #expect(try await suite.pay(order).status == 403)

            // A device that is a minute old may be the payer's and not have been heard of.
            order.approval = try PaymentOrder.approve(order.body, by: payee)
            #expect([403, 409].contains(try await suite.pay(order).status))

            #expect(try await suite.number("SELECT count(*) FROM transfers WHERE sender_id = '\(payer.id)'") == 0)
            #expect(try await suite.wallet(payer).available == 50_000)
        }

        @Test("an approval works once")
        func replay() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("replay", funding: 50_000)
            let payee = try await suite.person("payee")
            let first = try PaymentOrder(from: payer, to: payee.username, 900)
            #expect(try await suite.pay(first).status == 202)
            var second = first
            second.key = "system-second"
            let refused = try await suite.pay(second)
            #expect(refused.status == 403 && refused.error?.code == "approval_used")
            #expect(try await suite.number("SELECT count(*) FROM transfers WHERE sender_id = '\(payer.id)'") == 1)
        }
    }
}
