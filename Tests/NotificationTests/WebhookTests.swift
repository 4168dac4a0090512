import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("Webhooks", .serialized)
struct WebhookTests {
    @Test("a webhook and its event are stored together, once however often it is delivered, even at once")
    func once() async throws {
        try await withNotification { world in
            let news = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await world.webhook("1-anc_et", "nip.transfer.successful", ["transfer": "5-anc_trsf"])
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(news == 1)
            #expect(try await world.said() == ["provider.transfer_updated"])
            #expect(try await world.database.psql("SELECT event_id, outcome FROM webhooks") == ["1-anc_et|published"])
        }
    }

    @Test("each kind of webhook becomes its event; others are stored and say nothing")
    func kinds() async throws {
        try await withNotification { world in
            try await world.webhook("1-anc_et", "book.transfer.failed", ["transfer": "5-anc_trsf"])
            try await world.webhook("2-anc_et", "account.opened", ["account": "6-anc_acc"])
            try await world.webhook("3-anc_et", "accountNumber.created", ["account": "6-anc_acc"])
            try await world.webhook("4-anc_et", "nip.inbound.completed", ["inboundTransfer": "7-anc_inb_trsf"])
            #expect(try await world.webhook("5-anc_et", "bills.successful"))
            #expect(
                try await world.said() == [
                    "provider.transfer_updated", "provider.account_opened", "provider.account_opened",
                    "provider.payment_received",
                ]
            )
            #expect(
                try await world.database.psql("SELECT subject FROM outbox ORDER BY position LIMIT 1") == ["5-anc_trsf"]
            )
            #expect(
                try await world.database.psql("SELECT outcome FROM webhooks WHERE event_id = '5-anc_et'") == ["ignored"]
            )
        }
    }

    @Test("a verdict is asked about for an hour, however many questions had no answer")
    func patience() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            try await world.verdict("1-anc_et", "approved")
            try await world.database.psql("UPDATE jobs SET attempts = 50 WHERE key = '1-anc_et'")
            let outcome = try await world.confirm("1-anc_et", .pending)
            #expect(outcome == .again(reason: "not_confirmed", after: nil))
            world.clock.offset += .seconds(3601)
            let last = try await world.confirm("1-anc_et", .pending)
            #expect(last == .cancelled(reason: "not_confirmed"))
        }
    }

    @Test("a verdict is published when the provider says so too", arguments: [ProviderVerification.pending, .rejected])
    func hint(_ status: ProviderVerification) async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            try await world.verdict("1-anc_et", "approved")
            #expect(try await world.said().isEmpty)
            let outcome = try await world.confirm("1-anc_et", status)
            let told = status == .pending ? [] : ["customer.rejected"]
            #expect(outcome == .again(reason: "not_confirmed", after: nil))
            #expect(try await world.said() == told)
            #expect(try await world.confirm("1-anc_et", status) == outcome)
            #expect(try await world.said() == told)
            #expect(try await world.confirm("1-anc_et", .approved) == .done)
            #expect(try await world.said() == told + ["customer.verified"])
        }
    }

    @Test("a refusal that the provider does not know of is told to nobody")
    func falseRefusal() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            try await world.verdict("1-anc_et", "rejected")
            try await world.verdict("2-anc_et", "reenter_information")
            for id in ["1-anc_et", "2-anc_et"] { try await world.confirm(id, .approved) }
            #expect(try await world.said() == ["customer.verified"])
        }
    }

    @Test("a verdict about a customer nobody has told of waits, and is asked about when the customer is known")
    func evidence() async throws {
        try await withNotification { world in
            #expect(try await world.verdict("1-anc_et", "manualReview"))
            #expect(try await world.verdict("2-anc_et", "approved"))
            #expect(try await world.said().isEmpty)
            try await world.adaIsCustomer()
            try await world.confirm("1-anc_et", .manualReview)
            try await world.confirm("2-anc_et", .approved)
            #expect(try await world.said() == ["customer.rejected", "customer.verified"])
            try await world.adaIsCustomer()
            #expect(try await world.said().count == 2)
        }
    }

    @Test("details that must be entered again are refused with that reason")
    func reenter() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            try await world.verdict("1-anc_et", "reenter_information")
            try await world.confirm("1-anc_et", .unverified)
            let said = try #require(try await world.last(CustomerRejected.self))
            #expect(said.status == .known(.rejected) && said.reason == "reenter_information")
        }
    }

    @Test("a verdict and the news of its customer may come at the same moment: it is asked about either way")
    func atOnce() async throws {
        for _ in 0..<5 {
            try await withNotification { world in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await world.verdict("1-anc_et", "approved") }
                    group.addTask { try await world.adaIsCustomer() }
                    try await group.waitForAll()
                }
                try await world.confirm("1-anc_et", .approved)
                #expect(try await world.said() == ["customer.verified"])
            }
        }
    }

    @Test("that a customer is verified is said once, and no later message takes it back")
    func verifiedForEver() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            try await world.verdict("1-anc_et", "approved")
            try await world.verdict("2-anc_et", "approved")
            try await world.verdict("3-anc_et", "rejected")
            try await world.confirm("2-anc_et", .approved)
            try await world.confirm("1-anc_et", .approved)
            try await world.confirm("3-anc_et", .rejected)
            #expect(try await world.said() == ["customer.verified"])
        }
    }
}

@Suite("Lost webhooks", .serialized)
struct CheckCustomerTests {
    @Test("the job asks until the provider has decided, and says it once")
    func heals() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            #expect(try await world.check() == .again(reason: "not_decided", after: nil))
            world.provider.set(.approved)
            #expect(try await world.check() == .done)
            #expect(try await world.said() == ["customer.verified"])
            try await world.verdict("1-anc_et", "approved")
            try await world.confirm("1-anc_et", .approved)
            #expect(try await world.said() == ["customer.verified"])
        }
    }

    @Test("a refusal is said once and asked about again later, because details may be corrected")
    func refusal() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            world.provider.set(.rejected)
            for _ in 0..<2 {
                #expect(
                    try await world.check() == .again(reason: "rejected", after: CheckCustomer.pauseAfterRefusal)
                )
            }
            #expect(try await world.said() == ["customer.rejected"])
            // Refused again after a correction, and again without a webhook.
            try await world.hear(
                UserDetailsProvided(
                    userID: world.ada.uuid,
                    accountType: Open(.personal),
                    contactDetails: Sealed("s1.c2VhbGVk")
                ),
                sequence: 2
            )
            _ = try await world.check()
            #expect(try await world.said() == ["customer.rejected", "customer.rejected"])
            world.provider.set(.approved)
            #expect(try await world.check() == .done)
            #expect(try await world.said().last == "customer.verified")
        }
    }
}

@Suite("Many webhooks at once", .serialized)
struct WebhookLaneTests {
    private func event(_ id: String, _ type: String, _ links: [String: String]) throws -> WebhookEvent {
        let relationships = links.map { #""\#($0)":{"data":{"id":"\#($1)","type":"x"}}"# }.joined(separator: ",")
        let body = #"{"data":{"id":"\#(id)","type":"\#(type)","attributes":{},"relationships":{\#(relationships)}}}"#
        return try WebhookEvent(parsing: body.utf8)
    }

    @Test("each is stored and published once with its own cause, in few transactions, whatever comes twice")
    func gathered() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            let lane = WebhookLane(takeWebhook: world.takeWebhook)
            let transfers = try (0..<100).map {
                try self.event("t\($0)-anc_et", "nip.transfer.successful", ["transfer": "\($0 % 10)-anc_trsf"])
            }
            let verdict = try self.event(
                "v-anc_et",
                "customer.identification.approved",
                ["customer": "1-anc_ind_cst"]
            )
            let others = try (0..<20).map { try self.event("o\($0)-anc_et", "bills.successful", [:]) }
            let all = transfers + [verdict] + others
            let causes = all.map { _ in Cause(correlationID: world.ids.next()) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await lane.work() }
                let news = try await withThrowingTaskGroup(of: Bool.self) { calls in
                    for _ in 0..<2 {
                        for (event, cause) in zip(all, causes) {
                            calls.addTask { try await lane.take(event, cause: cause) }
                        }
                    }
                    return try await calls.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(news == all.count)
                group.cancelAll()
            }
            let count = { (sql: String) in try await world.database.psql("SELECT count(*) FROM \(sql)")[0] }
            #expect(try await count("webhooks") == "121")
            #expect(try await count("webhooks WHERE outcome = 'ignored'") == "20")
            #expect(try await count("outbox WHERE type = 'provider.transfer_updated'") == "100")
            #expect(try await count("jobs WHERE kind = 'confirm_verdict' AND key = 'v-anc_et'") == "1")
            let gaps = "(SELECT subject FROM outbox GROUP BY 1 HAVING max(sequence) <> count(*)) AS gaps"
            #expect(try await count(gaps) == "0")
            let known = Set(causes.compactMap { $0.correlationID?.lowercased })
            let told = try await world.database.psql("SELECT DISTINCT correlation_id FROM outbox")
            #expect(told.count == 100 && told.allSatisfy(known.contains))
            let batches = try await count("(SELECT DISTINCT xmin::text FROM webhooks) AS batches")
            #expect(try #require(Int(batches)) < 60)
        }
    }
}

@Suite("What becomes of an identity check", .serialized)
struct VerdictNoticeTests {
    @Test("the person hears of each change once, and nothing more once the identity is confirmed")
    func told() async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            let verdicts: [(id: String, word: String, status: ProviderVerification)] = [
                ("1-anc_et", "manualReview", .manualReview), ("2-anc_et", "manualReview", .manualReview),
                ("3-anc_et", "approved", .approved), ("4-anc_et", "rejected", .rejected),
            ]
            for verdict in verdicts {
                try await world.verdict(verdict.id, verdict.word)
                try await world.confirm(verdict.id, verdict.status)
            }
            #expect(try await world.titles(world.ada.uuid) == ["Identity Confirmed", "Identity Check"])
            let bodies = try await world.database.psql("SELECT body FROM notifications ORDER BY position")
            #expect(bodies.first == NoticeText.notVerified(.manualReview))
        }
    }
}
