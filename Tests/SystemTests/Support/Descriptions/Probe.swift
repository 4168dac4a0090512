import Contracts
import Foundation
import OutgoingHTTP
import Primitives
import Sealing
import TestSupport
import Testing

/// A request that must be refused, and how.
struct Probe: Sendable {
    let endpoint: Endpoint
    /// With query; the endpoint's own if nil.
    var path: String?
    var method: String?
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]?
    var status: Int
    /// The pointer, parameter or header that the answer must name; nil for any, "" for the body as a whole.
    var source: String?
    /// What `Allow` must list.
    var allow: Set<String>?
    /// Whether the answer must name any.
    var namesSource = true

    init(_ endpoint: Endpoint, status: Int) {
        self.endpoint = endpoint
        self.status = status
    }
}

/// Sends probes in the names of the right people and looks at the answers.
struct Prober: Sendable {
    let suite: RunningSuite
    let person: Person
    /// Has signed up and nothing more.
    let newcomer: String

    /// Makes the people.
    init(_ suite: RunningSuite) async throws {
        self.suite = suite
        self.person = try await suite.person("probe", funding: 10_000)
        let run = String(Int.random(in: 1_000_000...9_999_999))
        self.newcomer = "user_system_newcomer_\(run)"
        var order = RunningSuite.signUp(username: "newcomer\(run)", run: run)
        order.contactDetails = nil
        let body = try RunningSuite.json(order)
        let signed = try await suite.call("POST", .auth, "/onboarding", as: self.newcomer, body: body)
        guard signed.status == 201 else { throw TestFailure("sign-up was answered \(signed.status) \(signed.text)") }
    }

    /// Sends all, some at a time, and records what is not answered as it must be.
    func send(_ probes: [Probe]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, probe) in probes.enumerated() {
                if index >= 12 { try await group.next() }
                group.addTask { try await self.send(probe) }
            }
            try await group.waitForAll()
        }
    }

    private func send(_ probe: Probe) async throws {
        let endpoint = probe.endpoint
        let path = probe.path ?? endpoint.path()
        let service = self.suite.environment
        let base =
            endpoint.isOnInternalPort ? service.internalURL(endpoint.service) : service.publicURL(endpoint.service)
        let call = HTTPCall(
            HTTPMethod(rawValue: probe.method ?? endpoint.method),
            base + path,
            headers: try await self.headers(of: probe, path).filter { $0.1 != Self.absent }.map { ($0.0, $0.1) },
            body: probe.body
        )
        let reply = try await self.suite.send(call)
        Self.check(reply, probe, path)
    }

    /// As the value of a header: leave it out.
    static let absent = "absent"

    /// What a good request has, then what the probe wants otherwise.
    private func headers(of probe: Probe, _ path: String) async throws -> [(String, String)] {
        let endpoint = probe.endpoint
        var headers: [(String, String)] = []
        switch endpoint.access {
        case .open: break
        case .exports: headers.append(("Authorization", "Bearer \(self.suite.environment.exportsToken)"))
        case .dataKeys: headers.append(("Authorization", "Bearer \(self.suite.environment.dataKeysToken)"))
        case .internal: headers.append(("Authorization", "Bearer \(self.suite.environment.internalToken)"))
        case .session:
            headers.append(("Authorization", "Bearer \(try await self.suite.token(of: self.subject(of: endpoint)))"))
        }
        if probe.body != nil { headers.append(("Content-Type", "application/json")) }
        if endpoint.has(header: "Idempotency-Key") { headers.append(("Idempotency-Key", UUID().lowercased)) }
        if endpoint.has(header: "Transfa-Operator") {
            headers.append(("Transfa-Operator", RunningSuite.operatorName))
        }
        if endpoint.has(header: ApprovalHeader.name) {
            let approval = try PaymentOrder.approve(probe.body ?? [], by: self.person, path: path)
            headers.append((ApprovalHeader.name, approval))
        }
        if endpoint.has(header: WebhookSignature.anchorHeader) {
            let token = self.suite.environment.webhookToken
            let signature = WebhookSignature.anchor(body: probe.body ?? [], token: token)
            headers.append((WebhookSignature.anchorHeader, signature))
        }
        let changed = Set(probe.headers.map(\.name))
        return headers.filter { !changed.contains($0.0) } + probe.headers.map { ($0.name, $0.value) }
    }

    private func subject(of endpoint: Endpoint) -> String {
        switch endpoint.name {
        case "POST /onboarding": "user_system_stranger"
        case "PUT /onboarding/details": self.newcomer
        default: self.person.subject
        }
    }

    // MARK: Answers

    private static func check(_ reply: Reply, _ probe: Probe, _ path: String) {
        let what = "\(probe.endpoint.service): \(probe.method ?? probe.endpoint.method) \(path.prefix(120))"
        let sent = probe.headers.map { "\($0.name): \($0.value.prefix(60))" }.joined(separator: ", ")
        let body = String(decoding: (probe.body ?? []).prefix(400), as: UTF8.self)
        let problems = Self.problems(of: reply, probe)
        #expect(
            problems == [],
            Comment(rawValue: "\(what) [\(sent)] \(body)\n-> \(reply.status) \(reply.text.prefix(300))")
        )
    }

    private static func problems(of reply: Reply, _ probe: Probe) -> [String] {
        guard reply.status == probe.status else { return ["status \(reply.status), wanted \(probe.status)"] }
        guard reply.contentType == "application/vnd.api+json" else { return ["content type \(reply.contentType)"] }
        guard let error = reply.error else { return ["no JSON:API error"] }
        var problems: [String] = []
        if error.status != String(probe.status) { problems.append("status in the body") }
        if error.code.isEmpty || error.title.isEmpty || (error.detail ?? "").isEmpty { problems.append("texts") }
        if error.id != reply.header("X-Request-Id") { problems.append("the request's id") }
        let source = error.source?.pointer ?? error.source?.parameter ?? error.source?.header
        if probe.namesSource, source == nil { problems.append("no source") }
        if let wanted = probe.source, source != wanted {
            problems.append("source \(source ?? "none"), wanted \(wanted)")
        }
        if let allow = probe.allow, Set(reply.listed("Allow")) != allow {
            problems.append("Allow \(reply.values(of: "Allow"))")
        }
        if probe.status == 401, reply.header("WWW-Authenticate") == nil { problems.append("no challenge") }
        return problems
    }
}
