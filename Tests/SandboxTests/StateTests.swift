import AnchorClient
import Foundation
import OutgoingHTTP
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import SandboxService

@Suite("The sandbox keeps its state", .timeLimit(.minutes(2)))
struct StateTests {
    @Test("customers, accounts, money, pending transfers and signing key survive a restart")
    func restart() async throws {
        try await withTemporaryDirectory { directory in
            let kept = Mutex<(account: String, log: JSON, keys: JSON)?>(nil)
            try await withSandbox(directory: directory) { sandbox in
                let account = try await sandbox.personWithAccount(kobo: 500_000)
                let bank = try await sandbox.counterparty()
                let done = Samples.order("kept-1", kobo: 1000, from: account.id, to: .counterparty(id: bank))
                _ = try await sandbox.client.createTransfer(done)
                _ = try await sandbox.settled("kept-1")
                // Still pending when the sandbox ends.
                try await sandbox.control(.patch, "switches", ["transferDelayMs": 60_000])
                let open = Samples.order("kept-2", kobo: 2000, from: account.id, to: .counterparty(id: bank))
                _ = try await sandbox.client.createTransfer(open)
                let keys = try await sandbox.send(.get, "/.well-known/jwks.json").json
                let log = try await sandbox.control(.get, "log?type=transfer_accepted")
                kept.withLock { $0 = (account.id, log, keys) }
            }
            let before = try #require(kept.withLock { $0 })
            try await withSandbox(directory: directory) { sandbox in
                let balance = try await sandbox.client.balance(accountID: before.account)
                #expect([balance.ledger.kobo, balance.hold.kobo] == [499_000, 2000])
                #expect(try await sandbox.client.transfer(reference: "kept-2")?.status == .pending)
                try await sandbox.control(.post, "transfers/kept-2/outcome", ["outcome": "completed"])
                #expect(try await sandbox.settled("kept-2").status == .completed)
                let log = try await sandbox.control(.get, "log?type=transfer_accepted")
                #expect(log["entries"]?.items?.map { $0["reference"] } == ["kept-1", "kept-2"])
                #expect(log["entries"]?.items?.first == before.log["entries"]?.items?.first)
                #expect(try await sandbox.send(.get, "/.well-known/jwks.json").json == before.keys)
                let other = try await sandbox.client.createIndividualCustomer(Samples.person(email: "b@transfa.test"))
                #expect(other.id != before.account)
            }
        }
    }

    @Test("a bank account is in the name that was given it, also after a restart")
    func holder() async throws {
        try await withTemporaryDirectory { directory in
            try await withSandbox(directory: directory) { sandbox in
                let before = try await sandbox.client.verifyAccount(bank: "000013", number: "0123456789")
                #expect(before?.contains("TESTPERSON") == true)
                let path = "banks/accounts/0123456789/holder"
                try await sandbox.control(.put, path, ["name": "INVENTED HOLDER"])
                let refused = try await sandbox.send(.put, "/sandbox/banks/accounts/1/holder", ["name": "A"])
                #expect(refused.status == 400)
            }
            try await withSandbox(directory: directory) { sandbox in
                let named = try await sandbox.client.verifyAccount(bank: "000013", number: "0123456789")
                #expect(named == "INVENTED HOLDER")
            }
        }
    }

    @Test("a journal whose last line was cut off loses only that line")
    func tornJournal() async throws {
        try await withTemporaryDirectory { directory in
            try await withSandbox(directory: directory) { sandbox in
                _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            }
            let url = URL(fileURLWithPath: directory + "/sandbox.jsonl")
            let whole = try Data(contentsOf: url)
            try (whole + Data(#"{"customer":{"_0":{"id":"#.utf8)).write(to: url)
            try await withSandbox(directory: directory) { sandbox in
                let customer = try await sandbox.client.findCustomer(email: "a@transfa.test")
                #expect(customer != nil)
            }
        }
    }

    @Test("a reset forgets everything but the webhook target")
    func reset() async throws {
        try await withSandbox(webhookURL: "http://127.0.0.1:1/hook") { sandbox in
            _ = try await sandbox.personWithAccount(kobo: 1000)
            try await sandbox.control(.post, "reset")
            let summary = try await sandbox.control(.get, "summary")
            #expect(summary["customers"] == 0)
            #expect(summary["total_ledger"] == 0)
            let target = try await sandbox.send(.get, "/api/v1/webhooks").json["data"]?.items
            #expect(target?.count == 1)
        }
    }

    @Test("the log pages without losing or repeating an entry")
    func logPages() async throws {
        try await withSandbox { sandbox in
            let account = try await sandbox.personWithAccount()
            for _ in 0..<25 { try await sandbox.control(.post, "accounts/\(account.id)/fund", ["amount": 10]) }
            var sequences: [Int64] = []
            var next: Int64 = 0
            while true {
                let page = try await sandbox.control(.get, "log?type=inbound_settled&limit=10&after=\(next)")
                let found = page["entries"]?.items ?? []
                sequences += found.compactMap { $0["seq"]?.number }
                next = page["next"]?.number ?? 0
                if found.isEmpty { break }
            }
            #expect(sequences.count == 25)
            #expect(sequences == sequences.sorted())
            #expect(try await sandbox.client.balance(accountID: account.id).available.kobo == 250)
        }
    }

    @Test("an unknown switch and a wrong value are refused")
    func switches() async throws {
        try await withSandbox { sandbox in
            let unknown = try await sandbox.send(.patch, "/sandbox/switches", ["noSuchSwitch": true])
            let wrong = try await sandbox.send(.patch, "/sandbox/switches", ["transferDelayMs": "soon"])
            let fault = try await sandbox.send(.post, "/sandbox/faults", ["fault": "explode"])
            let statuses = Set([unknown.status, wrong.status, fault.status])
            #expect(statuses == Set([400]))
        }
    }

    @Test("a push comes in by HTTP/2 and is recorded")
    func pushes() async throws {
        try await withSandbox { sandbox in
            try await withAppleProxy(to: sandbox.pushPort) { url, certificate in
                for (token, expected) in [("abc123", "2 200"), ("dead01", "2 410")] {
                    let request = [
                        "-s", "--noproxy", "*", "--cacert", certificate.trusted, "-H", "apns-topic: ng.transfa", "-d",
                        #"{"aps":{"alert":"hi"}}"#, "-o", "/dev/null", "-w", "%{http_version} %{http_code}",
                    ]
                    let answer = try await Command.run("curl", request + ["\(url)/3/device/\(token)"])
                    #expect(answer == expected)
                }
            }
            let pushes = try await sandbox.control(.get, "apns/pushes")["pushes"]?.items ?? []
            #expect(pushes.map { $0["token"] } == ["abc123", "dead01"])
            #expect(pushes.first?["apns-topic"] == "ng.transfa")
        }
    }

    @Test("of several secrets all API keys are taken, and the first of the others signs")
    func secrets() throws {
        let environment = [
            "ANCHOR_API_KEY": "old, new", "ANCHOR_WEBHOOK_TOKEN": "1234567890,12345", "CLERK_ISSUER": "https://c",
            "PORT": "8080", "CLERK_WEBHOOK_SECRET": "whsec_a,whsec_b",
        ]
        let configuration = try SandboxConfiguration(environment: environment)
        #expect(configuration.apiKeys == ["old", "new"])
        #expect(configuration.webhookToken == "1234567890" && configuration.clerkWebhookSecret == "whsec_a")
        for name in ["ANCHOR_API_KEY", "ANCHOR_WEBHOOK_TOKEN", "CLERK_WEBHOOK_SECRET"] {
            #expect(throws: SandboxConfigurationError.self) {
                try SandboxConfiguration(environment: environment.merging([name: "one,"]) { $1 })
            }
        }
    }

    @Test(
        "a missing or malformed variable is named",
        arguments: ["ANCHOR_API_KEY", "ANCHOR_WEBHOOK_TOKEN", "CLERK_ISSUER", "PORT", "APNS_PORT"]
    )
    func configuration(_ name: String) {
        var environment = [
            "ANCHOR_API_KEY": "k", "ANCHOR_WEBHOOK_TOKEN": "12345", "CLERK_ISSUER": "https://c", "PORT": "8080",
        ]
        environment[name] = name == "APNS_PORT" ? "70000" : nil
        let wrong = environment
        do throws(SandboxConfigurationError) {
            _ = try SandboxConfiguration(environment: wrong)
            Issue.record("the configuration should be refused")
        } catch {
            #expect(error.variable == name)
            #expect(!error.description.contains("70000"))
        }
    }
}
