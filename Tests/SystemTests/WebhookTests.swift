import Contracts
import Foundation
import Sealing
import TestSupport
import Testing

extension Faults {
    @Suite struct WebhookTests {
        @Test("a webhook that is forged, altered or not signed is refused with 401 and stored nowhere")
        func forged() async throws {
            let suite = try RunningSuite.current
            let body = Array(#"{"data":{"id":"evt-forged","type":"payment.settled","attributes":{}}}"#.utf8)
            let good = WebhookSignature.anchor(body: body, token: suite.environment.webhookToken)
            let forged = WebhookSignature.anchor(body: body, token: "guessed")
            let url = suite.environment.publicURL("notification") + "/webhooks/anchor"
            let refused = [
                try await suite.send("POST", url, body: body),
                try await suite.send("POST", url, headers: [WebhookSignature.anchorHeader: forged], body: body),
                try await suite.send("POST", url, headers: [WebhookSignature.anchorHeader: good], body: body + [0x20]),
            ]
            #expect(refused.map(\.status) == [401, 401, 401])
            #expect(refused.allSatisfy { $0.error?.code != nil })
            let stored = "SELECT count(*) FROM webhooks WHERE event_id = 'evt-forged'"
            #expect(try await suite.number(stored, of: "notification") == 0)
        }

        @Test("money told of three times over, by events of all kinds and without the wrapper, is credited once")
        func duplicated() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("inbound")
            try await suite.withSwitches(#""webhookCopies":3,"webhookWrapped":false"#) {
                for events in ["repeated", "both", "nip", "payment"] {
                    let order = #"{"amount":2500,"events":"\#(events)"}"#
                    let path = "/sandbox/accounts/\(person.accountNumber)/fund"
                    #expect(try await suite.sandbox("POST", path, order).status == 201)
                }
                try await eventually("four credits", within: .seconds(30), every: .milliseconds(100)) {
                    try await suite.wallet(person).posted == 4 * 2500
                }
                try await suite.quiet()
            }
            #expect(try await suite.wallet(person).posted == 4 * 2500)
            let sql = "SELECT count(*) FROM inbound_payments WHERE user_id = '\(person.id)'"
            #expect(try await suite.number(sql) == 4)
            #expect(try await suite.brokenInvariants() == [])
            // And told of once each, when what account says of it has passed too.
            let told = "SELECT kind FROM notifications WHERE user_id = '\(person.id)' AND category = 'money'"
            try await eventually("four messages", within: .seconds(30)) {
                try await suite.rows("notification", told) == Array(repeating: "wallet.credited", count: 4)
            }
            try await suite.addDevice(of: person)
            let devices =
                "SELECT count(*) FROM notifications WHERE user_id = '\(person.id)' AND kind = 'device.registered'"
            try await eventually("a later message", within: .seconds(30)) {
                try await suite.number(devices, of: "notification") > 0
            }
            #expect(try await suite.rows("notification", told).count == 4)
        }

        @Test("an order that the provider took without answering, and whose webhooks are lost, is found by asking")
        func answerLost() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("lost", funding: 20_000)
            let payee = try await suite.person("payee")
            try await suite.withSwitches(#""webhooksEnabled":false"#) {
                try await suite.fault("drop-after")
                let id = try await suite.pay(from: payer, to: payee, 1500)
                try await suite.await(id, "unknown")
                let wallet = try await suite.wallet(payer)
                #expect(wallet.held == 1500 && wallet.posted == 20_000 && wallet.available == 18_500)
                try await suite.leap("the transfer to be completed") {
                    try await suite.state(id) == "completed"
                }
                #expect(try await suite.acceptedByProvider(id) == 1)
            }
            #expect(try await suite.wallet(payer).posted == 18_500)
            #expect(try await suite.wallet(payee).posted == 1500)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a transfer that fails at the bank gives money and free slot back")
        func failed() async throws {
            let suite = try RunningSuite.current
            try await suite.letSmallSumsTakeSlots()
            let payer = try await suite.person("failed", funding: 20_000)
            let payee = try await suite.person("payee")
            try await suite.addBankAccount(of: payee)
            try await suite.withSwitches(#""transferOutcome":"failed""#) {
                let id = try await suite.pay(from: payer, to: payee, 1500)
                try await suite.await(id, "failed", within: .seconds(30))
                #expect(
                    try await suite.rows("transaction", "SELECT route FROM transfers WHERE id = '\(id)'") == [
                        "external"
                    ]
                )
            }
            let wallet = try await suite.wallet(payer)
            #expect(wallet == WalletResource(available: 20_000, posted: 20_000, held: 0, currency: "NGN"))
            let slots = "SELECT slots_used FROM receiving_counters WHERE user_id = '\(payee.id)'"
            #expect(try await suite.number(slots) == 0)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a transfer that the bank returns after its completion gives the money back")
        func reversed() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("reversed", funding: 20_000)
            let payee = try await suite.person("payee")
            try await suite.addBankAccount(of: payee)
            let id = try await suite.pay(from: payer, to: payee, 1500)
            try await suite.await(id, "completed", within: .seconds(30))
            #expect(try await suite.wallet(payer).posted == 18_500)
            let reference = "trf-\(id.uuidString.lowercased())"
            let path = "/sandbox/transfers/\(reference)/outcome"
            #expect(try await suite.sandbox("POST", path, #"{"outcome":"reversed"}"#).status == 200)
            try await suite.await(id, "reversed", within: .seconds(30))
            #expect(try await suite.wallet(payer).available == 20_000)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("webhooks that come late, twice and in the wrong order end in the same books")
        func disorder() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("disorder", funding: 20_000)
            let payee = try await suite.person("payee")
            try await suite.addBankAccount(of: payee)
            try await suite.withSwitches(#""webhookCopies":2,"webhookDelayMs":300,"webhookReorderMs":700"#) {
                for amount in 101...110 { _ = try await suite.pay(from: payer, to: payee, Int64(amount)) }
                try await eventually("all to end", within: .seconds(40), every: .milliseconds(200)) {
                    try await suite.openTransfers(of: payer) == 0
                }
                try await suite.quiet()
            }
            let sum = Int64((101...110).reduce(0, +))
            #expect(try await suite.wallet(payer).posted == 20_000 - sum)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension Probes {
    @Suite struct WebhookProbeTests {
        @Test("signed bytes that are no event are refused with 400, too many of them with 413, and stored nowhere")
        func noEvents() async throws {
            let suite = try RunningSuite.current
            let prober = try await Prober(suite)
            let webhook = try #require(try Endpoint.all(of: "notification").first { $0.path == "/webhooks/anchor" })
            let long = String(repeating: "a", count: 100_000)
            let bodies = [
                "", "{", "[]", "null", "5", #"{"data":5}"#, #"{"data":{}}"#, #"{"data":{"id":5,"type":"x"}}"#,
                #"{"data":{"id":"","type":"x"}}"#, #"{"data":{"id":"a\u0000","type":"x"}}"#, "\u{1f}\u{8b}",
                #"{"data":{"id":"\#(long)","type":"x"}}"#, #"{"data":{"id":"evt-odd","type":"\#(long)"}}"#,
                #"{"data":{"id":"evt-a","type":"x"},"data":{"id":"evt-b","type":"x"}}"#,
                #"{"data":{"id":"evt-a","id":"evt-b","type":"x"}}"#,
                String(repeating: "[", count: 200_000), #"{"data":"# + String(repeating: #"{"a":"#, count: 40_000),
            ]
            var probes = bodies.map { body in
                var probe = Probe(webhook, status: 400)
                probe.body = Array(body.utf8)
                return probe
            }
            var wide = Probe(webhook, status: 400)
            wide.body = Array(
                #"{"data":{"id":"evt-a","type":"x"}}"#.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
            )
            probes.append(wide)
            var large = Probe(webhook, status: 413)
            large.body = [UInt8](repeating: 0x20, count: 256 * 1024 + 1)
            probes.append(large)
            let changes = try await suite.changes { try await prober.send(probes) }
            #expect(changes == [])
        }
    }
}

extension RunningSuite {
    /// Runs `body` with some of the sandbox's switches set, and sets them back.
    func withSwitches(_ members: String, _ body: () async throws -> Void) async throws {
        let usual = """
            {"webhookCopies":1,"webhookWrapped":true,"webhooksEnabled":true,"transferOutcome":"completed",\
            "webhookDelayMs":0,"webhookReorderMs":0,"webhookForged":false,"webhookAltered":false,\
            "businessDocuments":false}
            """
        let answer = try await self.sandbox("PATCH", "/sandbox/switches", "{\(members)}")
        guard answer.status == 200 else { throw TestFailure("the switches: \(answer.text)") }
        do {
            try await body()
            try await self.sandbox("PATCH", "/sandbox/switches", usual)
        } catch {
            try await self.sandbox("PATCH", "/sandbox/switches", usual)
            throw error
        }
    }

    /// Lets the next order of a transfer go wrong.
    func fault(_ fault: String) async throws {
        let rule = #"{"fault":"\#(fault)","method":"POST","path":"/api/v1/transfers","count":1}"#
        let answer = try await self.sandbox("POST", "/sandbox/faults", rule)
        guard (200..<300).contains(answer.status) else { throw TestFailure("the fault: \(answer.text)") }
    }

    /// Until no message of the provider about money that came in is on its way to the ledger.
    func quiet() async throws {
        let jobs = "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running') AND kind = 'credit_wallet'"
        let outbox = "SELECT count(*) FROM outbox WHERE sent_at IS NULL"
        try await eventually("the messages to be handled", within: .seconds(30), every: .milliseconds(200)) {
            let told = try await self.number("SELECT count(*) FROM webhooks", of: "notification")
            try await Task.sleep(for: .milliseconds(800))
            guard try await self.number("SELECT count(*) FROM webhooks", of: "notification") == told else {
                return false
            }
            return try await self.number(jobs) + self.number(outbox, of: "notification") == 0
        }
    }
}
