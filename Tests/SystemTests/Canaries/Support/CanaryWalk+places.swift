import Contracts
import Cryptography
import Foundation
import Primitives
import Sealing
import TestSupport

/// What the walker does at the edges: drops with passwords, phones, webhooks, odd paths and headers.
extension CanaryWalk {
    /// A drop with a password, guessed wrong and right.
    func drop(_ person: Person, _ friend: Person) async throws {
        let words = self.canaries
        let tomorrow = Timestamp.text(Date().addingTimeInterval(86_400))
        let order = MoneyDropRequest(
            amountPerClaim: 100,
            slots: 2,
            expiresAt: tomorrow,
            title: words["drop's title"],
            password: words["drop's password"]
        )
        let path = "/money-drops"
        let made = try self.must("a drop", try await self.order(path, order, as: person)).decode(MoneyDropResponse.self)
        self.noteHash(of: try RunningSuite.json(order), path)
        let one = "\(path)/\(made.moneyDropID.lowercased)"
        try await eventually("the drop to open", within: .seconds(30), every: .milliseconds(50)) {
            try await self.suite.read(one, as: person, MoneyDropResource.self).status == "open"
        }
        for password in ["wrong password of a drop", "drop's password", "drop's password"] {
            let body = try RunningSuite.json(ClaimRequest(password: words[password]))
            self.noteHash(of: body, "\(one)/claim")
            try await self.send("POST", .transaction, "\(one)/claim", body, as: friend.subject)
        }
        guard try await self.suite.read(one, as: friend, MoneyDropResource.self).claimStatus != nil else {
            throw TestFailure("the drop was not claimed")
        }
        for body in try Self.spoiled(order, by: words["bad body"]) {
            try await self.send("POST", .transaction, path, body)
        }
        _ = try self.must("its end", try await self.send("POST", .transaction, "\(one)/end"))
    }

    /// The plain hash of a request, by which a password in it could be found; as services hash others, lengths included.
    private func noteHash(of body: [UInt8], _ path: String) {
        var hash = SHA256()
        for part in [Array("POST".utf8), Array(path.utf8), body] {
            hash.update(data: (0..<8).map { UInt8(truncatingIfNeeded: UInt64(part.count) >> (56 - 8 * $0)) })
            hash.update(data: part)
        }
        self.note("hash of a request with a password", Hex.encode(Array(hash.finalize())))
    }

    /// A phone that is told of what happens, and another one that approves.
    func usePhones(_ person: Person) async throws {
        let words = self.canaries
        let token = try RunningSuite.json(PushTokenRequest(token: words.pushToken, deviceID: person.device))
        // Notification hears of the phone a moment after auth knows it.
        let taken = try await eventually("the phone to be known", within: .seconds(30)) {
            let answer = try await self.send("POST", .notification, "/push-tokens", token)
            return answer.status == 409 ? nil : answer
        }
        _ = try self.must("a push token", taken)
        let phone = DeviceRequest(
            name: "\(words["phone's name"]) 2",
            publicKey: Base64URL.encode(DevicePrivateKey().publicKey.x963),
            pin: words.newPIN
        )
        var body = try RunningSuite.json(phone)
        let device = try await self.twice("POST", .auth, "/devices", body, of: DeviceResource.self)
        guard device.name == phone.name else { throw TestFailure("the phone is called \(device.name)") }
        body = try RunningSuite.json(DeviceRequest(name: phone.name, publicKey: phone.publicKey, pin: words.wrongPIN))
        _ = try self.must("a wrong PIN", try await self.send("POST", .auth, "/devices", body), [403])
        try await eventually("the push", within: .seconds(30), every: .milliseconds(100)) {
            try await !self.suite.pushes(to: words.pushToken.lowercased()).isEmpty
        }
        for path in ["/notifications", "/push-tokens", "/notifications/preferences"] {
            try await self.send("GET", .notification, path)
        }
    }

    /// Webhooks that are forged, broken, unknown, and about people that nobody knows.
    func sendWebhooks() async throws {
        let words = self.canaries
        let url = self.suite.environment.publicURL("notification") + "/webhooks/anchor"
        let token = self.suite.environment.webhookToken
        for (word, key) in [("forged webhook", "guessed"), ("signed webhook", token), ("unread webhook", token)] {
            let text = words[word]
            let details = #""fullName":"\#(text)","bvn":"\#(words.bvn)","email":"\#(text)@example.com""#
            for (index, type) in ["customer.identification.rejected", "payment.settled", "nobody.knows.this"]
                .enumerated()
            {
                let event = """
                    {"data":{"id":"evt-walk-\(words.run)-\(word.prefix(6))-\(index)","type":"\(type)",\
                    "attributes":{\(details),"detail":"\(text)"},"relationships":{"customer":{"data":{"id":"\(words.run)-walk",\
                    "type":"IndividualCustomer"}}}},"included":[{"id":"1","type":"Address","attributes":{\(details)}}]}
                    """
                let body = Array((word == "unread webhook" ? String(event.dropLast(2)) : event).utf8)
                let signature = WebhookSignature.anchor(body: body, token: key)
                try await self.send("POST", url, [WebhookSignature.anchorHeader: signature], body)
            }
        }
        let clerk = self.suite.environment.publicURL("auth") + "/webhooks/clerk"
        let body = Array(#"{"type":"user.updated","data":{"email":"\#(words["forged webhook"])@example.com"}}"#.utf8)
        let headers = ["svix-id": "msg_walk", "svix-timestamp": "1", "svix-signature": "v1,AAAA"]
        try await self.send("POST", clerk, headers, body)
    }

    /// Canaries where nobody expects them: in paths, queries and headers of all services, and in tokens.
    func wander() async throws {
        let words = self.canaries
        let (path, header) = (words["path"], words["header"])
        let odd = [
            "User-Agent": header, "X-Request-Id": header, "traceparent": header, "X-Forwarded-For": header,
            "Last-Event-ID": header, "If-None-Match": header, "Referer": "https://example.com/\(header)",
            "Cookie": "name=\(header)", "Accept": header, "Idempotency-Key": header + " " + header,
            ApprovalHeader.name: header,
        ]
        for endpoint in try Endpoint.ofClients() where !endpoint.isStream {
            guard let service = ServiceName(rawValue: endpoint.service) else { continue }
            let parameters = endpoint.parameters.filter { $0.place == "path" }.map { ($0.name, path) }
            let asked = endpoint.path(with: Dictionary(uniqueKeysWithValues: parameters))
            let body = endpoint.method == "GET" ? [] : Array(#"{"\#(words["bad body"])":1}"#.utf8)
            // Those that it takes, and one by a name that nobody knows.
            let known = endpoint.queryNames.map { "\($0)=\(words["search"])" }.joined(separator: "&")
            for query in [known, "\(words["search"])=\(words["search"])"] {
                try await self.send(endpoint.method, service, "\(asked)?\(query)", body, headers: odd)
            }
            let token = ["Authorization": "Bearer \(header).\(header).\(header)"]
            try await self.send(endpoint.method, service, "/\(path)\(asked)", body, headers: token)
            try await self.send(endpoint.method, service, asked, body, headers: token)
        }
        try await self.send("GET", .customer, "/users?query=\(words["search"])")
        try await self.send("GET", .customer, "/users/\(words["search"])")
    }

    /// Has auth say in a version that nobody knows yet what it has said about the person, so that it is parked with all
    /// its data; gives the event.
    func parkEvent(_ person: Person) async throws -> UUID {
        let event = UUIDv7Source().next()
        try await self.suite.rows(
            "auth",
            """
            WITH counted AS (UPDATE event_sequences SET sequence = sequence + 1
                WHERE subject = '\(person.id.lowercased)' RETURNING sequence)
            INSERT INTO outbox (day, id, type, version, subject, sequence, time, data)
            SELECT uuid_v7_day('\(event)'), '\(event)', 'user.details_provided', 9, o.subject, counted.sequence,
                clock_timestamp(), o.data
            FROM counted, outbox o WHERE o.type = 'user.created' AND o.subject = '\(person.id.lowercased)'
            """
        )
        for service in Self.listeners {
            try await eventually("the event to be parked", within: .seconds(30), every: .milliseconds(100)) {
                try await self.suite.number(
                    "SELECT count(*) FROM parked_events WHERE id = '\(event)' AND length(body) > 500",
                    of: service
                ) == 1
            }
        }
        return event
    }

    /// Who hears of a person's details.
    private static let listeners =
        EventCatalogue.definition(of: UserDetailsProvided.type)?.consumers.map(\.rawValue) ?? []

    /// What an operator does about it in the end.
    func discard(_ event: UUID, about person: Person) async throws {
        let body = #"{"subject":"\#(person.id.lowercased)","event":"\#(event.lowercased)","reason":"a test"}"#
        for service in Self.listeners {
            let answer = try await self.suite.operate("POST", service, "/internal/ops/parked/discard", body)
            _ = try self.must("what was parked", answer)
        }
    }
}
