import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension ServiceFaults {
    /// What follows a restore: the services find a ledger that has forgotten what the provider did.
    ///
    /// In a suite of its own, for all payments stand still meanwhile.
    @Suite(.serialized, .runningSuite(.only(SuiteEnvironment.names)))
    struct RecoveryTests {
        @Test("payments stand still until what the provider did is in the books, and then go on")
        func recovery() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("recovada", funding: 50_000)
            let bola = try await suite.person("recovbola")
            let chi = try await suite.person("recovchi")

            // What the backup does not have: an accepted payment left, another was made, and money came in.
            let left = try await suite.acceptUnsent(from: ada, to: bola, 4000)
            let reference = "trf-\(left.lowercased)"
            _ = try await suite.orderElsewhere(from: ada, to: bola, 4000, reference: reference)
            let forgotten = "trf-\(UUID().lowercased)"
            _ = try await suite.orderElsewhere(from: ada, to: chi, 700, reference: forgotten)
            let path = "/sandbox/accounts/\(bola.accountNumber)/fund"
            #expect(try await suite.sandbox("POST", path, #"{"amount":900,"events":"none"}"#).status < 300)

            for service in ["transaction", "account"] {
                try await suite.rows(
                    service,
                    "SELECT begin_recovery(transfa_now() - interval '10 minutes', 'restore', 'a test')"
                )
            }
            try await suite.rows("transaction", "DELETE FROM parked_keys")
            let order = try PaymentOrder(from: ada, to: bola.username, 1000)
            let refused = try await suite.pay(order)
            #expect(refused.status == 503 && refused.error?.code == "recovering")
            #expect(try await suite.run("recovery", "status").exit == .code(1))
            let acting = ["--operator", "grace", "--reason", "all agrees"]
            #expect(try await suite.toolFails(["recovery", "end"] + acting).contains("incomplete"))
            try await suite.acceptOldDifference()

            try await eventually("the books to have it all", within: .seconds(60), every: .milliseconds(200)) {
                let balances = [try await suite.wallet(ada).posted, try await suite.wallet(bola).posted]
                guard balances == [45_300, 4900] else { throw TestFailure("they have \(balances)") }
                return true
            }
            #expect(try await suite.tool(["recovery", "forgotten"]).contains(forgotten))
            // What was under way at the beginning has arrived by then.
            try await suite.setClocks(130)
            let ended = try await eventually("the end", within: .seconds(120), every: .milliseconds(500)) {
                let run = try await suite.run("recovery", "end", "--operator", "grace", "--reason", "all agrees")
                guard run.exit == .code(0) else { throw TestFailure(try await suite.tool(["recovery", "status"])) }
                return run.text
            }
            #expect(ended.contains("ended") && ended.contains("by grace: all agrees"))
            #expect(try await suite.run("recovery", "status").exit == .code(0))

            #expect(try await suite.state(left) == "completed")
            #expect(try await suite.sandbox("GET", "/sandbox/references/\(reference)").text.contains("COMPLETED"))
            let suspended = "SELECT amount FROM transfers WHERE route_reason = 'suspense'"
            #expect(try await suite.rows("transaction", suspended) == ["700"])
            let paid = try await suite.pay(from: ada, to: bola, 1000)
            try await suite.await(paid, "completed")
            #expect(try await suite.wallet(ada).posted == 44_300)
            try await suite.unblock(bola)
            #expect(try await suite.brokenInvariants() == [])
            try await suite.setClocks(0)
        }
    }
}

extension RunningSuite {
    /// Of an account that nobody can look at any more an operator accepts that it differs.
    fileprivate func acceptOldDifference() async throws {
        let acting = ["--operator", "grace", "--reason", "older than the backup"]
        try await self.rows(
            "transaction",
            """
            INSERT INTO recovery_accounts (recovery_id, account, looked_at, differences, detail)
            SELECT id, 'old-anc_acc', begun_at + interval '3 minutes', 2, 'balance: they have 1 kobo more than we account for'
                || chr(10) || 'missing_there trf-1: ours completed 1, theirs -'
            FROM recoveries WHERE ended_at IS NULL
            """
        )
        let status = try await self.run("recovery", "status").text
        let shown = /old-anc_acc differs 2 times, mark ([0-9a-f]{8}), first balance: they have 1 kobo more/
        let mark = try #require(status.firstMatch(of: shown).map { String($0.1) }, "\(status)")
        #expect(status.contains("    missing_there trf-1"))
        func accept(_ account: String, _ mark: String) async throws -> ToolRun {
            let words = ["recovery", "accept-difference", account, "--mark", mark]
            return try await ToolRun(words + acting, self.environment.tool)
        }
        #expect(try await accept("nobodys-anc_acc", mark).exit == .code(4))
        #expect(try await accept("../end", mark).exit == .code(64))
        #expect(try await accept("old-anc_acc", "none").text.contains("eight digits"))
        #expect(try await accept("old-anc_acc", "0badf00d").text.contains("changed"))
        let accepted = try await accept("old-anc_acc", mark)
        #expect(accepted.exit == .code(0))
        let line = /mark [0-9a-f]+, accepted by grace at [^ ]+: older than the backup, first balance: they/
        #expect(accepted.text.contains(line), "\(accepted.text)")
        let audited = try await self.tool(["audit", "list", "transaction"])
        #expect(audited.contains("grace recovery.difference_accepted"))
    }

    /// Somebody whose wallet is blocked sends nothing until an operator says so, once.
    fileprivate func unblock(_ person: Person) async throws {
        let (id, acting) = (person.id.lowercased, ["--owed", "0", "--operator", "grace", "--reason", "looked at"])
        let none = try await self.tool(["wallets", "blocked"])
        #expect(!none.contains(id))
        try await self.rows(
            "transaction",
            """
            UPDATE balances b SET debits_blocked = true FROM users u
            WHERE u.wallet_id = b.account_id AND u.id = '\(id)'
            """
        )
        let posted = try await self.wallet(person).posted
        let blocked = try await self.tool(["wallets", "blocked", "--limit", "1000"])
        #expect(blocked.contains("\(id)  \(posted) kobo posted, 0 held; 0 owed to us"), "\(blocked)")
        #expect(try await self.tool(["wallets", "unblock", id] + acting).contains("the wallet of \(id) is unblocked"))
        #expect(try await self.toolFails(["wallets", "unblock", id] + acting).contains("not_blocked"))
        let nobody = ["wallets", "unblock", UUID().lowercased] + acting
        #expect(try await ToolRun(nobody, self.environment.tool).exit == .code(4))
        let left = try await self.tool(["wallets", "blocked"])
        #expect(!left.contains(id))
    }

    /// A payment that is accepted and waits, for something that was said about its payer cannot be handled yet.
    fileprivate func acceptUnsent(from payer: Person, to payee: Person, _ amount: Int64) async throws -> UUID {
        try await self.rows(
            "transaction",
            "INSERT INTO parked_keys VALUES ('\(payer.id.lowercased)', 'a test', transfa_now())"
        )
        let id = try await self.pay(from: payer, to: payee, amount)
        #expect(try await self.state(id) == "accepted")
        return id
    }
}
