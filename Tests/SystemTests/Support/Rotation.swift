import Contracts
import Cryptography
import EventLoops
import Foundation
import NIOHTTP1
import Primitives
import Sealing
import TestSupport

/// The replacement of every key and token, step by step, and requests that must never notice it.
struct Rotation: Sendable {
    /// What the settings hold.
    enum Step: CaseIterable, Sendable {
        case oldThenNew
        case newThenOld
        case newAlone
    }

    let suite: RunningSuite
    let payer: Person
    let payee: Person
    private let old: [String: String]
    private let new: [String: String]

    private static let lists = [
        "MASTER_KEYS", "APPROVAL_SIGNING_KEY", "ANCHOR_API_KEY", "ANCHOR_WEBHOOK_TOKEN", "CLERK_WEBHOOK_SECRET",
        "INTERNAL_TOKEN", "METRICS_TOKEN", "DATA_KEYS_TOKEN", "EXPORTS_TOKEN",
    ]

    init(on suite: RunningSuite) async throws {
        self.suite = suite
        self.payer = try await suite.person("rotor", funding: 400_000)
        self.payee = try await suite.person("rotor")
        let names = ["auth", "notification", "console"]
        let variables = names.map { suite.environment.variables(of: $0) }.reduce(into: [:]) { $0.merge($1) { $1 } }
        self.old = variables.filter { Self.lists.contains($0.key) || $0.key == "OPERATOR_TOKENS" }
        self.new = [
            "MASTER_KEYS": "new:\(Self.key())", "APPROVAL_SIGNING_KEY": Self.key(), "ANCHOR_API_KEY": "new-key-of-ours",
            "ANCHOR_WEBHOOK_TOKEN": "newSecret7", "CLERK_WEBHOOK_SECRET": "whsec_\(Self.key())",
            "INTERNAL_TOKEN": "new-internal-token", "METRICS_TOKEN": "new-metrics-token",
            "DATA_KEYS_TOKEN": "new-data-keys-token", "EXPORTS_TOKEN": "new-exports-token",
            "OPERATOR_TOKENS": "ada:\(Self.hash("new-token-of-ada"))",
        ]
    }

    private static func key() -> String { Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() }

    private static func hash(_ text: String) -> String { Hex.encode(Array(SHA256.hash(data: Array(text.utf8)))) }

    /// The variables of every service at a step.
    func variables(_ step: Step) -> [String: String] {
        let sets =
            switch step {
            case .oldThenNew: [self.old, self.new]
            case .newThenOld: [self.new, self.old]
            case .newAlone: [self.new]
            }
        let values = (Self.lists + ["OPERATOR_TOKENS"]).map { name in
            (name, sets.compactMap { $0[name] }.joined(separator: ","))
        }
        return Dictionary(uniqueKeysWithValues: values)
    }

    /// Who plays the world outside is told before a step what it may do now.
    func prepare(_ step: Step) async throws {
        let keys = [self.old, self.new].map { "\"\($0["ANCHOR_API_KEY"] ?? "")\"" }
        switch step {
        case .oldThenNew:
            try await self.suite.sandbox("PUT", "/sandbox/anchor/keys", #"{"keys":[\#(keys.joined(separator: ","))]}"#)
        case .newThenOld:
            let token = self.new["ANCHOR_WEBHOOK_TOKEN"] ?? ""
            try await self.suite.sandbox("PUT", "/sandbox/webhook", #"{"token":"\#(token)"}"#)
            try await self.suite.sandbox("POST", "/sandbox/clerk/rotate", "{}")
            self.suite.tokens.withLock { $0.removeAll() }
        case .newAlone:
            try await self.awaitRewrapped()
            try await self.suite.sandbox("PUT", "/sandbox/anchor/keys", #"{"keys":[\#(keys[1])]}"#)
            try await self.suite.sandbox("POST", "/sandbox/clerk/retire")
        }
    }

    private func awaitRewrapped() async throws {
        try await eventually("all data keys under the new master key", within: .seconds(40)) {
            let counts = try await self.suite.rows("auth", "SELECT DISTINCT master_key_id FROM data_keys")
            return counts == ["new"]
        }
    }

    /// What the world outside signs with at a step.
    private func signing(_ name: String, _ step: Step) -> String {
        (step == .oldThenNew ? self.old[name] : self.new[name]) ?? ""
    }

    // MARK: Requests

    /// Whatever comes to the suite's own process and to a replica of a service that is a step ahead.
    ///
    /// - Returns: What was not answered as it should be.
    func refusals(of name: String, beside replica: Replica, at step: Step) async throws -> [String] {
        let urls = [self.suite.environment.publicURL(name), replica.url]
        var answers: [(String, Reply, Int)] = []
        switch name {
        case "auth":
            for url in urls {
                answers.append(("approval", try await self.payment(approvedAt: url, at: nil), 202))
                answers.append(("message of Clerk", try await self.clerkMessage(to: url, at: step), 200))
            }
        case "transaction":
            let auth = self.suite.environment.publicURL("auth")
            for target in [nil, replica] {
                answers.append(("payment", try await self.payment(approvedAt: auth, at: target), 202))
            }
            answers += try await self.pages(urls) + self.pages(urls.reversed())
            answers += try await self.drops(nil, replica) + self.drops(replica, nil)
        case "notification":
            for url in urls { answers.append(("webhook", try await self.webhook(to: url, at: step), 200)) }
        case "console":
            for (maker, reader) in [(urls[0], urls[1]), (urls[1], urls[0])] {
                answers.append(("session", try await self.session(from: maker, at: reader, step), 200))
            }
        default: break
        }
        return answers.filter { $0.1.status != $0.2 }.map { "\(name), \(step): \($0.0) \($0.1.status) \($0.1.text)" }
    }

    /// A payment that one process of auth approves for a PIN, and that one of transaction takes.
    private func payment(approvedAt auth: String, at replica: Replica?) async throws -> Reply {
        var order = try PaymentOrder(from: self.payer, to: self.payee.username, 100)
        let hash = ApprovalText.sha256(order.body)
        let ask = ApprovalRequest(pin: RunningSuite.pin, method: "POST", path: PaymentOrder.path, bodySha256: hash)
        let answer = try await self.send("POST", auth + "/approvals", try RunningSuite.json(ask))
        guard answer.status == 201 else { return answer }
        order.approval = "pin \(try answer.decode(ApprovalResponse.self).approvalToken)"
        return try await self.suite.pay(order, at: replica)
    }

    private struct Page: Decodable {
        private enum CodingKeys: String, CodingKey {
            case next = "next_cursor"
        }

        let next: String?
    }

    /// The first page from one process, the second from another.
    private func pages(_ urls: [String]) async throws -> [(String, Reply, Int)] {
        let path = "/transactions?limit=1"
        let first = try await self.send("GET", urls[0] + path)
        guard first.status == 200, let next = try first.decode(Page.self).next else { return [("page", first, 200)] }
        return [("second page", try await self.send("GET", urls[1] + path + "&cursor=\(next)"), 200)]
    }

    /// A drop with a password, asked for at one process and again at another.
    private func drops(_ first: Replica?, _ second: Replica?) async throws -> [(String, Reply, Int)] {
        let expiry = Timestamp.text(Date().addingTimeInterval(3600))
        let request = MoneyDropRequest(amountPerClaim: 100, slots: 1, expiresAt: expiry, password: "open sesame")
        let body = try RunningSuite.json(request)
        let approval = try PaymentOrder.approve(body, by: self.payer, path: "/money-drops")
        let headers = ["Idempotency-Key": "drop-\(UUID().lowercased)", ApprovalHeader.name: approval]
        var replies: [Reply] = []
        for replica in [first, second] {
            let url = replica?.url ?? self.suite.environment.publicURL("transaction")
            replies.append(try await self.send("POST", url + "/money-drops", body, headers: headers))
        }
        return replies.map { ("drop", $0, 202) }
    }

    func webhook(to url: String, at step: Step) async throws -> Reply {
        let body = Array(#"{"id":"evt-\#(UUID().lowercased)","type":"nothing.new","attributes":{}}"#.utf8)
        let signature = WebhookSignature.anchor(body: body, token: self.signing("ANCHOR_WEBHOOK_TOKEN", step))
        let headers = [WebhookSignature.anchorHeader: signature]
        return try await self.suite.send("POST", url + "/webhooks/anchor", headers: headers, body: body)
    }

    func clerkMessage(to url: String, at step: Step) async throws -> Reply {
        let body = Array(#"{"type":"user.updated","object":"event","data":{"id":"user_of_nobody"}}"#.utf8)
        let (id, now) = ("msg_\(UUID().lowercased)", Int64(Date().timeIntervalSince1970))
        let secret = try SvixSecret(text: self.signing("CLERK_WEBHOOK_SECRET", step))
        let headers = [
            "svix-id": id, "svix-timestamp": "\(now)",
            "svix-signature": WebhookSignature.svix(id: id, timestamp: now, body: body, secret: secret),
        ]
        return try await self.suite.send("POST", url + "/webhooks/clerk", headers: headers, body: body)
    }

    /// A session that one process opens and another knows.
    private func session(from maker: String, at reader: String, _ step: Step) async throws -> Reply {
        let token = step == .newAlone ? "new-token-of-ada" : self.suite.environment.operatorTokens["ada"] ?? ""
        let path = "/console/api/session"
        let opened = try await self.suite.send("POST", maker + path, body: Array(#"{"token":"\#(token)"}"#.utf8))
        guard let cookie = opened.header("Set-Cookie")?.split(separator: ";").first else { return opened }
        return try await self.suite.send("GET", reader + path, headers: ["Cookie": String(cookie)])
    }

    private func send(
        _ method: String,
        _ url: String,
        _ body: [UInt8] = [],
        headers: [String: String] = [:]
    ) async throws -> Reply {
        let token = try await self.suite.token(of: self.payer.subject)
        let all = headers.merging(["Authorization": "Bearer \(token)"]) { $1 }
        return try await self.suite.send(method, url, headers: all, body: body)
    }
}
