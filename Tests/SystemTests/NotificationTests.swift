import Contracts
import Foundation
import NIOHTTP1
import Primitives
import Sealing
import TestSupport
import Testing

extension Journeys {
    @Suite struct NotificationTests {
        @Test("an event that comes again, or is replayed past the inbox, is pushed to a phone once and is one message")
        func once() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("pushed")
            let token = String(repeating: "ab", count: 28) + person.username.suffix(7) + "0"
            let body = try RunningSuite.json(PushTokenRequest(token: token))
            let registered = try await suite.call("POST", .notification, "/push-tokens", as: person.subject, body: body)
            #expect(registered.status == 200)
            try await suite.addDevice(of: person)
            let first = try await eventually("the push", within: .seconds(30)) {
                try await suite.pushes(to: token).first
            }
            #expect(first.id != "" && first.body.kind == "device.registered")

            let mine = "type = 'device.registered' AND subject = '\(person.id.lowercased)'"
            for isReplay in [false, true] {
                if isReplay { try await suite.rows("notification", "DELETE FROM inbox WHERE \(mine)") }
                try await suite.rows("auth", "UPDATE outbox SET sent_at = NULL WHERE \(mine)")
                let unsent = "SELECT count(*) FROM outbox WHERE sent_at IS NULL AND \(mine)"
                try await eventually("the events to be sent again", within: .seconds(30)) {
                    try await suite.number(unsent, of: "auth") == 0
                }
            }
            // Handled in order: once this one has come, the others have.
            try await suite.addDevice(of: person)
            try await eventually("the next push", within: .seconds(30)) {
                try await suite.pushes(to: token).count == 2
            }
            let messages =
                "SELECT count(*) FROM notifications WHERE user_id = '\(person.id)' AND kind = 'device.registered'"
            #expect(try await suite.number(messages, of: "notification") == 3)
            let jobs = "SELECT count(*) FROM jobs WHERE kind = 'send_push' AND subject = '\(person.id.lowercased)'"
            #expect(try await suite.number(jobs, of: "notification") == 2)
            #expect(Set(try await suite.pushes(to: token).map(\.id)).count == 2)
        }

        @Test("whenever a message comes, it is in the inbox that was read or in the stream that follows it, and in one")
        func follow() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("follows")
            let read: () async throws -> NotificationPage = {
                try await suite.call("GET", .notification, "/notifications?limit=100", as: person.subject)
                    .decode(NotificationPage.self)
            }
            // Their messages come when they come: before the inbox is read, between the two, or after.
            try await suite.addDevice(of: person)
            let inbox = try await read()
            try await suite.addDevice(of: person)
            let place = try #require(inbox.meta?.lastEventID)
            try await suite.listen(as: person, from: place) { stream in
                try await suite.addDevice(of: person)
                let inboxIDs = inbox.data.map(\.id)
                let (heard, all) = try await eventually(
                    "the stream to have what the inbox had not",
                    within: .seconds(30)
                ) {
                    let heard = stream.messageIDs
                    let now = try await read().data
                    let devices = now.filter { $0.kind == "device.registered" }
                    let isAll = devices.count == 4 && Set(now.map(\.id)) == Set(inboxIDs + heard)
                    return isAll ? (heard.count, now.count) : nil
                }
                #expect(inboxIDs.count + heard == all)
                let numbers = stream.events.filter { $0.name == "notification" }.compactMap { Int($0.id) }
                let first = try #require(Int(place)) + 1
                #expect(numbers == Array(first..<first + numbers.count))
            }
            let path = "/notifications?limit=1"
            let first = try await suite.call("GET", .notification, path, as: person.subject)
                .decode(NotificationPage.self)
            let next = try #require(first.nextCursor)
            let later = try await suite.call("GET", .notification, "\(path)&cursor=\(next)", as: person.subject)
                .decode(NotificationPage.self)
            #expect(first.meta != nil && later.meta == nil)
        }

        @Test("a client that polls gets 304 until something changes, and what it may not turn off is refused")
        func poll() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("polls")
            // What the sign-up is told of may still be coming.
            let (tag, again) = try await eventually("an inbox that stays as it is") {
                let first = try await suite.call("GET", .notification, "/notifications?limit=5", as: person.subject)
                let tag = try #require(first.header("ETag"))
                let again = try await suite.call(
                    "GET",
                    .notification,
                    "/notifications?limit=5",
                    as: person.subject,
                    headers: ["If-None-Match": tag]
                )
                return again.status == 304 ? (tag, again) : nil
            }
            let headers = ["If-None-Match": tag]
            #expect(again.body.isEmpty && again.header("ETag") == tag)
            let all = try await suite.call(
                "POST",
                .notification,
                "/notifications/read-all",
                as: person.subject,
                body: Array("{}".utf8)
            )
            #expect(try all.decode(UnreadCount.self).unread == 0)
            let changed = try await suite.call(
                "GET",
                .notification,
                "/notifications?limit=5",
                as: person.subject,
                headers: headers
            )
            #expect(changed.status == 200)
            let page = try changed.decode(NotificationPage.self)
            #expect(page.unread == 0 && page.data.allSatisfy(\.read) && !page.data.isEmpty)

            let wish = Array(#"{"show_amounts":true,"categories":{"security":{"push":false}}}"#.utf8)
            let path = "/notifications/preferences"
            let refused = try await suite.call("PUT", .notification, path, as: person.subject, body: wish)
            #expect(refused.status == 422 && refused.error?.code == "not_suppressible")
            #expect(refused.error?.source?.pointer == "/categories/security/push")
            let now = try await suite.call("GET", .notification, path, as: person.subject)
            #expect(try !now.decode(NotificationPreferencesResource.self).showAmounts)
        }
    }
}

extension Faults {
    @Suite struct NotificationFaultTests {
        @Test("a live stream goes on where it stopped, over a restart, without loss and without repetition")
        func resume() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("stream")
            var last = ""
            try await suite.listen(as: person) { stream in
                try await eventually("the stream to begin") { stream.events.first?.name == "ready" }
                try await suite.addDevice(of: person)
                try await eventually("the message", within: .seconds(30)) { stream.messages.count == 1 }
                // Told to stop, the service lets the stream end in good order.
                #expect(try await suite.process("notification").terminate() == .code(0))
                try await eventually("the stream to end") { stream.isOver }
                last = stream.lastID
            }
            // While nobody listens.
            try await suite.addDevice(of: person)
            try await suite.start("notification")
            try await suite.listen(as: person, from: last) { stream in
                try await eventually("what was missed", within: .seconds(30)) { stream.messages.count == 1 }
                try await suite.addDevice(of: person)
                try await eventually("what comes", within: .seconds(30)) { stream.messages.count == 2 }
                #expect(stream.messages == ["device.registered", "device.registered"])
                let ids = stream.events.filter { $0.name == "notification" }.compactMap { Int($0.id) }
                let before = try #require(Int(last))
                #expect(ids == [before + 1, before + 2])
            }
        }
    }
}

extension RunningSuite {
    /// Registers one more phone that approves payments.
    func addDevice(of person: Person) async throws {
        let phone = DeviceRequest(
            name: "Another phone",
            publicKey: Base64URL.encode(DevicePrivateKey().publicKey.x963),
            pin: Self.pin
        )
        let answer = try await self.call("POST", .auth, "/devices", as: person.subject, body: Self.json(phone))
        guard answer.status == 201 else { throw TestFailure("the device was answered \(answer.text)") }
    }

    /// What Apple's stand-in got for a phone.
    func pushes(to token: String) async throws -> [ArrivedPush] {
        let answer = try await self.sandbox("GET", "/sandbox/apns/pushes?limit=1000")
        return try answer.decode(ArrivedPushes.self).pushes.filter { $0.token == token }
    }
}

/// A push as it arrived.
struct ArrivedPush: Decodable, Sendable {
    struct Body: Decodable, Sendable {
        let kind: String
    }

    let token: String
    let id: String
    let body: Body

    private enum CodingKeys: String, CodingKey {
        case token
        case id = "apns-id"
        case body
    }
}

private struct ArrivedPushes: Decodable {
    let pushes: [ArrivedPush]
}
