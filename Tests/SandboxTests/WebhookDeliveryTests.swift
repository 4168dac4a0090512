import AnchorClient
import Foundation
import NIOHTTP1
import OutgoingHTTP
import Primitives
import TestSupport
import Testing

@testable import SandboxService

@Suite("The sandbox sends webhooks as Anchor does, and wrongly when told to", .timeLimit(.minutes(2)))
struct WebhookDeliveryTests {
    @Test("opening an account tells of approval, account and number, each with the right signature")
    func rightSignature() async throws {
        try await withWebhooks { sandbox, receiver in
            let account = try await sandbox.personWithAccount()
            let webhooks = await receiver.next(4)
            for webhook in webhooks { #expect(webhook.isSigned(with: SandboxHandle.webhookToken)) }
            let facts = webhooks.compactMap { $0.event?.fact }
            let customer = try #require(account.customerID)
            #expect(facts.contains(.identification(customerID: customer, .approved)))
            #expect(facts.contains(.accountOpened(accountID: account.id, customerID: customer)))
            #expect(facts.contains(.accountNumberCreated(accountID: account.id, customerID: customer)))
        }
    }

    @Test("a failed delivery is repeated with the same event id, and given up after five")
    func retries() async throws {
        try await withWebhooks { sandbox, receiver in
            receiver.fail(2)
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            let three = await receiver.next(3)
            #expect(Set(three.compactMap { $0.event?.id }).count == 1)
            receiver.fail(5)
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "b@transfa.test"))
            let five = await receiver.next(5)
            #expect(Set(five.compactMap { $0.event?.id }).count == 1)
            let last = try await sandbox.eventually("giving up") {
                let entries = try await sandbox.control(.get, "log?type=webhook")["entries"]?.items
                return entries?.count == 2 ? entries : nil
            }
            #expect(last.map { $0["status"] } == ["delivered", "given_up"])
        }
    }

    @Test("what happens after the receiver was away comes at once")
    func receiverAway() async throws {
        let receiver = WebhookReceiver()
        let port = try freePort()
        try await withSandbox(webhookURL: "http://127.0.0.1:\(port)/hook") { sandbox in
            try await sandbox.control(.patch, "switches", ["webhookAttempts": 1])
            for number in 0..<12 {
                _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "\(number)@transfa.test"))
            }
            try await eventually("all were given up", within: .seconds(30)) {
                let entries = try await sandbox.control(.get, "log?type=webhook&limit=100")["entries"]?.items
                return entries?.count ?? 0 >= 12
            }
            try await Task.sleep(for: .seconds(3))
            try await receiver.run(port: port) { _ in
                let back = ContinuousClock.now
                _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "late@transfa.test"))
                #expect(await receiver.next(1).count == 1)
                #expect(ContinuousClock.now - back < .seconds(5))
            }
        }
    }

    @Test("where somebody else answers on a connection that was kept, the next attempts find the receiver")
    func someoneElse() async throws {
        let stranger = try await Stranger()
        let receiver = WebhookReceiver()
        let url = "http://127.0.0.1:\(stranger.port)/hook"
        try await withSandbox(webhookURL: url) { sandbox in
            try await sandbox.control(.patch, "switches", ["webhookRetryMs": 10, "webhookAttempts": 2])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "first@transfa.test"))
            try await eventually("the stranger was asked twice", within: .seconds(10)) { stranger.asked >= 2 }
            // A first attempt alone keeps its connection.
            try await sandbox.control(.patch, "switches", ["webhookAttempts": 1])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "second@transfa.test"))
            try await eventually("the stranger was asked again", within: .seconds(10)) { stranger.asked >= 3 }
            try await stranger.stopListening()
            try await sandbox.control(.patch, "switches", ["webhookAttempts": 5])
            try await receiver.run(port: stranger.port) { _ in
                _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "late@transfa.test"))
                #expect(await receiver.next(1).count == 1)
            }
            #expect(stranger.asked > 3)
        }
        try await stranger.end()
    }

    @Test("the wrapper can be left out, and both forms say the same")
    func withoutWrapper() async throws {
        try await withWebhooks { sandbox, receiver in
            let account = try await sandbox.personWithAccount()
            let fund: JSON = ["amount": 5000, "events": "payment", "wrapper": false]
            try await sandbox.control(.post, "accounts/\(account.id)/fund", fund)
            let isPayment: @Sendable (ReceivedWebhook) -> Bool = { $0.event?.type.hasPrefix("payment.") == true }
            let two = await receiver.next(2, where: isPayment)
            for webhook in two {
                #expect(JSON(parsing: webhook.body)?["data"] == nil)
                guard case .payment(let payment)? = webhook.event?.fact else {
                    Issue.record("not a payment")
                    continue
                }
                #expect(payment.accountID == account.id)
                #expect(payment.amount?.kobo == 5000)
            }
            #expect(two.map { $0.event?.type } == ["payment.received", "payment.settled"])
        }
    }

    @Test("one payment can be told of by several events with ids of their own")
    func severalEventsPerPayment() async throws {
        try await withWebhooks { sandbox, receiver in
            let account = try await sandbox.personWithAccount()
            try await sandbox.control(.post, "accounts/\(account.id)/fund", ["amount": 5000, "events": "repeated"])
            let isPayment: @Sendable (ReceivedWebhook) -> Bool = { $0.event?.type == "payment.settled" }
            let three = await receiver.next(3, where: isPayment)
            #expect(Set(three.compactMap { $0.event?.id }).count == 3)
            let payments = three.compactMap { webhook -> String? in
                guard case .payment(let payment)? = webhook.event?.fact else { return nil }
                return payment.paymentID
            }
            #expect(payments.count == 3)
            #expect(Set(payments).count == 1)
            #expect(try await sandbox.client.balance(accountID: account.id).available.kobo == 5000)
        }
    }

    @Test("forged, altered, duplicated, packed and lost webhooks are what the switches say")
    func faults() async throws {
        try await withWebhooks { sandbox, receiver in
            try await sandbox.control(.patch, "switches", ["webhookForged": true])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "a@transfa.test"))
            let forged = await receiver.next(1)
            #expect(forged.map { $0.isSigned(with: SandboxHandle.webhookToken) } == [false])

            try await sandbox.control(.patch, "switches", ["webhookForged": false, "webhookAltered": true])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "b@transfa.test"))
            let altered = await receiver.next(1)
            #expect(altered.map { $0.isSigned(with: SandboxHandle.webhookToken) } == [false])
            #expect(altered[0].event != nil)

            try await sandbox.control(.patch, "switches", ["webhookAltered": false, "webhookCopies": 2])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "c@transfa.test"))
            let copies = await receiver.next(2)
            #expect(copies[0].body == copies[1].body)

            try await sandbox.control(.patch, "switches", ["webhookCopies": 1, "webhookGzip": true])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "d@transfa.test"))
            let packed = await receiver.next(1)
            #expect(packed[0].isPacked)
            #expect(packed[0].body.starts(with: [0x1F, 0x8B]))

            try await sandbox.control(.patch, "switches", ["webhookGzip": false, "webhookLoseEvery": 1])
            _ = try await sandbox.client.createIndividualCustomer(Samples.person(email: "e@transfa.test"))
            try await sandbox.control(.patch, "switches", ["webhookLoseEvery": 0])
            let last = try await sandbox.client.createIndividualCustomer(Samples.person(email: "f@transfa.test"))
            let next = await receiver.next(1)
            let text = String(decoding: next[0].body, as: UTF8.self)
            #expect(text.contains(last.id))
        }
    }

    @Test("an event of any content can be sent with any token")
    func handMade() async throws {
        try await withWebhooks { sandbox, receiver in
            let body: JSON = [
                "data": [
                    "id": "1-anc_et", "type": "nip.transfer.successful",
                    "relationships": ["transfer": .link("7-anc_trsf", "NIP_TRANSFER")],
                ]
            ]
            let answer = try await sandbox.control(.post, "webhooks/send", ["body": body, "token": "other"])
            #expect(answer["accepted"] == true)
            let received = await receiver.next(1)
            #expect(!received[0].isSigned(with: SandboxHandle.webhookToken))
            #expect(received[0].isSigned(with: "other"))
        }
    }

    @Test("the signature of the published vector is right")
    func vector() {
        let body = Array(#"{"data":{"id":"1-anc_et","type":"nip.transfer.successful"}}"#.utf8)
        let signature = webhookSignature(body, token: "12345")
        #expect(signature == "NmEzZWVkZjQ5NGFiZGQ5Y2M2Zjc2OTRkNzg3NGE0ZTI1YThmZTM2Yg==")
    }
}
