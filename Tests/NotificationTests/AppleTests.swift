import Contracts
import Cryptography
import Foundation
import Logging
import Messaging
import OutgoingHTTP
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("Apple's push service", .serialized)
struct AppleTests {
    private func message(_ token: String = String(repeating: "a1", count: 32)) -> PushMessage {
        let notification = UUID.v5(namespace: UserID.namespace, name: "message")
        return PushMessage(
            id: PushMessage.id(of: notification, to: notification),
            token: token,
            title: "Money Received",
            body: "You received money.",
            category: .money,
            kind: "transaction.received",
            notificationID: notification,
            subject: notification.lowercased,
            unread: 3,
            expires: Date(timeIntervalSince1970: 1_900_000_000)
        )
    }

    @Test("a push arrives over HTTP/2 with what Apple needs, and nothing more")
    func arrives() async throws {
        try await SandboxApple.with { apple in
            let message = self.message()
            #expect(await apple.client.send(message) == .taken)
            let push = try #require(try await apple.arrived().first)
            #expect(push.token == message.token && push.id == message.id.lowercased)
            #expect(push.collapseID == message.notificationID.lowercased && push.topic == "ng.transfa.app")
            #expect(push.priority == "10" && push.expiration == "1900000000" && push.pushType == "alert")
            #expect(push.keyID == "TESTKEY123" && push.teamID == "TESTTEAM12")
            #expect(push.body.aps.alert == ["title": "Money Received", "body": "You received money."])
            #expect(push.body.aps.badge == 3 && push.body.kind == "transaction.received")
        }
    }

    @Test("every answer of Apple's has its meaning")
    func answers() async throws {
        try await SandboxApple.with { apple in
            let since = Date(timeIntervalSince1970: 0)
            #expect(
                await apple.client.send(self.message("dead0" + String(repeating: "1", count: 40)))
                    == .tokenGone(since: since)
            )
            #expect(
                await apple.client.send(self.message("bad0" + String(repeating: "1", count: 40)))
                    == .tokenGone(since: nil)
            )
            let cases: [(String, PushOutcome)] = [
                (
                    #"{"status":429,"reason":"TooManyRequests"}"#,
                    .later(reason: "apns_429_TooManyRequests", after: .seconds(60))
                ),
                (
                    #"{"status":500,"reason":"InternalServerError"}"#,
                    .later(reason: "apns_500_InternalServerError", after: nil)
                ),
                (#"{"status":503,"reason":"Shutdown"}"#, .later(reason: "apns_503_Shutdown", after: nil)),
                (
                    #"{"status":403,"reason":"InvalidProviderToken"}"#,
                    .later(reason: "apns_403_InvalidProviderToken", after: .seconds(300))
                ),
                (
                    #"{"status":400,"reason":"DeviceTokenNotForTopic"}"#,
                    .refused(reason: "apns_400_DeviceTokenNotForTopic")
                ),
                (#"{"status":413,"reason":"PayloadTooLarge"}"#, .refused(reason: "apns_413_PayloadTooLarge")),
                (#"{"status":404}"#, .refused(reason: "apns_404")),
            ]
            for (failure, outcome) in cases {
                try await apple.fail(failure)
                #expect(await apple.client.send(self.message()) == outcome)
            }
            #expect(await apple.client.send(self.message()) == .taken)
        }
    }

    @Test("a provider token that Apple calls expired is renewed once, and not again so soon")
    func expired() async throws {
        try await SandboxApple.with { apple in
            let first = try apple.tokens.current()
            apple.clock.advance(by: .seconds(1))
            try await apple.fail(#"{"status":403,"reason":"ExpiredProviderToken"}"#)
            #expect(await apple.client.send(self.message()) == .taken)
            let second = try apple.tokens.current()
            #expect(second != first)
            try await apple.fail(#"{"status":403,"reason":"ExpiredProviderToken","count":2}"#)
            let answer = PushOutcome.later(reason: "apns_403_ExpiredProviderToken", after: .seconds(300))
            #expect(await apple.client.send(self.message()) == answer)
            #expect(try apple.tokens.current() == second)
            let statuses = try await apple.arrived().map(\.status)
            #expect(statuses == [403, 200, 403])
        }
    }

    @Test("a provider token is used for at least 20 minutes and at most an hour, and its signature is good")
    func lifetime() async throws {
        try await SandboxApple.with { apple in
            let first = try apple.tokens.current()
            apple.clock.advance(by: .seconds(20 * 60))
            #expect(try apple.tokens.current() == first)
            apple.clock.advance(by: .seconds(39 * 60))
            let second = try apple.tokens.current()
            #expect(second != first)
            let parts = second.split(separator: ".")
            let signature = try P256.Signature(
                rawRepresentation: try #require(Base64URL.decode(parts[2]))
            )
            let signed = Array("\(parts[0]).\(parts[1])".utf8)
            #expect(apple.key.publicKey.isValidSignature(signature, for: signed))
        }
    }

    @Test("when Apple cannot be reached the push waits, and the job says nothing of the token")
    func away() async throws {
        let key = P256.PrivateKey()
        let configuration = APNsConfiguration(
            baseURL: "https://127.0.0.1:1",
            topic: "t",
            keyID: "k",
            teamID: "t",
            key: key,
            trustedCertificates: nil
        )
        let http = try configuration.makeHTTPClient(OutgoingCallMetrics(PrometheusRegistry()))
        let client = APNsClient(
            configuration: configuration,
            tokens: ProviderTokens(configuration, time: SystemClock()),
            http: http
        )
        #expect(await client.send(self.message()) == .later(reason: "not_reached", after: nil))
        await http.shutdown()
    }

    @Test("from the event to Apple: one push per phone, and a phone that is gone is forgotten")
    func whole() async throws {
        try await SandboxApple.with { apple in
            try await withNotification { world in
                let gone = try await world.register("dead" + String(repeating: "1", count: 40), of: world.ada)
                try await world.register(String(repeating: "a1", count: 32), of: world.ada)
                let id = world.ids.next()
                for _ in 0..<2 { try await world.moneyArrives(id: id) }
                let keys = try await world.waitingPushes()
                #expect(keys.count == 2)
                var outcomes: [JobOutcome] = []
                for key in keys { outcomes.append(try await world.push(key, by: apple.client)) }
                #expect(outcomes.contains(.done) && outcomes.contains(.cancelled(reason: "token_gone")))
                let left = try await world.pushes.tokens(of: world.ada, on: world.requests)
                #expect(left.count == 1 && left[0].id != gone.id)
            }
        }
    }
}
