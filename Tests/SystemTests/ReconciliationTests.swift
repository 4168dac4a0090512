import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Faults {
    /// The provider's books and ours.
    @Suite struct ReconciliationTests {
        @Test("what deviates at the provider is found, confirmed and named, all of it and nothing else")
        func deviations() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("recada", funding: 50_000)
            let bola = try await suite.person("recbola")
            try await suite.addBankAccount(of: bola)
            let chi = try await suite.person("recchi")
            let external = try await suite.pay(from: ada, to: bola, 4000)
            let book = try await suite.pay(from: ada, to: chi, 3000)
            for id in [external, book] { try await suite.await(id, "completed") }
            for person in [ada, bola, chi] { #expect(try await suite.reconciled(person).breaks.isEmpty) }

            let stranger = try await suite.orderElsewhere(from: ada, to: chi, 700)
            let altered = "/sandbox/transfers/trf-\(external.lowercased)/amount"
            #expect(try await suite.sandbox("POST", altered, #"{"amount":4500}"#).status == 200)
            let lost = try await suite.fundUnheard(ada, 900)
            let expected: Set = [
                "missing_with_us \(stranger)", "missing_with_us \(lost)", "other_amount trf-\(external.lowercased)",
            ]
            let suspected = try await suite.reconciled(ada)
            #expect(Set(suspected.breaks.map(\.name)) == expected)
            #expect(suspected.open == 0)
            // Chi was paid by the transfer that nobody knows: the payer's account shows it, and it is one break.
            #expect(try await suite.reconciled(chi).breaks.isEmpty)

            try await suite.later {
                try await eventually("the second look", within: .seconds(30), every: .milliseconds(200)) {
                    try await suite.breaks(of: ada).open == 3
                }
                #expect(Set(try await suite.breaks(of: ada).breaks.map(\.name)) == expected)
                #expect(try await suite.wallet(ada).posted == 43_000)
                #expect(try await suite.reconcileTool(ada) == 1)
                let metric = #"transfa_reconciliation_breaks{kind="missing_with_us"} 2"#
                try await eventually("the metric", within: .seconds(90), every: .milliseconds(500)) {
                    try await suite.operate("GET", "transaction", "/metrics").text.contains(metric)
                }

                // The lost payment is credited after all, and the provider corrects the amount.
                let again = "UPDATE jobs SET state = 'queued', due_at = transfa_now(), finished_at = NULL"
                let found = again + " WHERE key = '\(lost)'"
                try await suite.rows("account", found)
                try await eventually("the payment", within: .seconds(30), every: .milliseconds(200)) {
                    try await suite.wallet(ada).posted == 43_900
                }
                #expect(try await suite.sandbox("POST", altered, #"{"amount":4000}"#).status == 200)
                #expect(try await suite.reconciled(ada).breaks.map(\.name) == ["missing_with_us \(stranger)"])
                #expect(try await suite.reconcileTool(chi) == 0)
            }
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

/// GET /internal/reconciliations/breaks.
private struct BreakList: Decodable {
    struct Entry: Decodable {
        let kind: String
        let key: String

        var name: String { "\(self.kind) \(self.key)" }
    }

    let breaks: [Entry]
    let open: Int
    let waiting: Int
}

extension RunningSuite {
    fileprivate func breaks(of person: Person) async throws -> BreakList {
        let path = "/internal/reconciliations/breaks?user_id=\(person.id.lowercased)"
        return try await self.operate("GET", "transaction", path).decode(BreakList.self)
    }

    /// Looks at somebody's account and gives what is known then.
    fileprivate func reconciled(_ person: Person) async throws -> BreakList {
        let order = #"{"user_id":"\#(person.id.lowercased)"}"#
        let asked = try await self.operate("POST", "transaction", "/internal/reconciliations", order)
        guard asked.status == 202 else { throw TestFailure("asking was answered \(asked.status) \(asked.text)") }
        return try await eventually("the look", within: .seconds(30), every: .milliseconds(100)) {
            let list = try await self.breaks(of: person)
            return list.waiting == 0 ? list : nil
        }
    }

    /// The exit code of `transfactl reconcile`.
    fileprivate func reconcileTool(_ person: Person) async throws -> Int {
        do {
            let output = try await Command.run(
                try Repository.product("transfactl"),
                ["reconcile", "--user", person.id.lowercased, "--operator", Self.operatorName],
                environment: self.environment.tool
            )
            #expect(output.contains("checks hold"))
            return 0
        } catch let failure as TestFailure {
            #expect("\(failure)".contains("no break is open"))
            return 1
        }
    }

    /// Money arrives, no message tells of it, and account has given up reading it.
    fileprivate func fundUnheard(_ person: Person, _ amount: Int64) async throws -> String {
        struct Funded: Decodable {
            let id: String
        }
        let path = "/sandbox/accounts/\(person.accountNumber)/fund"
        let funded = try await self.sandbox("POST", path, #"{"amount":\#(amount),"events":"none"}"#)
        let id = try funded.decode(Funded.self).id
        try await self.rows(
            "account",
            """
            INSERT INTO jobs (id, kind, key, state, due_at, created_at, finished_at)
            VALUES (gen_random_uuid(), 'read_payment', '\(id)', 'failed', now(), now(), now())
            """
        )
        return id
    }

    /// Runs `body` when a suspicion is old enough to be confirmed, and sets the clocks right again.
    fileprivate func later(_ body: () async throws -> Void) async throws {
        try await self.setClocks(1000)
        do {
            try await body()
        } catch {
            try await self.setClocks(0)
            throw error
        }
        try await self.setClocks(0)
    }
}
