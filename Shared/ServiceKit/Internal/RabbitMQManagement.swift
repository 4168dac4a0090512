import Foundation
import Messaging
import OutgoingHTTP

/// RabbitMQ's management API: policies, and how long the queues are.
struct RabbitMQManagement: BrokerManagement {
    private static let timeout = Duration.seconds(5)
    private static let maximumBytes = 64 * 1024

    private let base: String
    private let authorization: String
    private let virtualHost: String
    private let http: HTTPClient

    struct Refused: Error {
        let status: Int
    }

    /// Takes `http://user:password@host:port`; nil when the URL is none.
    init?(url: String, virtualHost: String, http: HTTPClient) {
        guard var parts = URLComponents(string: url), parts.host != nil else { return nil }
        let user = parts.user ?? "guest"
        let password = parts.password ?? "guest"
        self.authorization = "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
        parts.user = nil
        parts.password = nil
        parts.path = ""
        guard let base = parts.string else { return nil }
        self.base = base
        self.virtualHost = virtualHost
        self.http = http
    }

    private struct Policy: Codable {
        var pattern: String
        var definition: [String: BrokerPolicyValue]
        var applyTo: String?

        enum CodingKeys: String, CodingKey {
            case pattern
            case definition
            case applyTo = "apply-to"
        }
    }

    func definition(ofPolicy name: String) async throws -> [String: BrokerPolicyValue]? {
        let answer = try await self.send(self.call(.get, policy: name))
        guard answer.status != 404 else { return nil }
        guard answer.status == 200 else { throw Refused(status: answer.status) }
        return try JSONDecoder().decode(Policy.self, from: Data(answer.body)).definition
    }

    func set(_ policy: BrokerPolicy) async throws {
        var call = self.call(.put, policy: policy.name)
        call.headers.append(("Content-Type", "application/json"))
        let body = Policy(pattern: policy.pattern, definition: policy.definition, applyTo: "queues")
        call.body = Array(try JSONEncoder().encode(body))
        let answer = try await self.send(call)
        guard answer.isSuccess else { throw Refused(status: answer.status) }
    }

    /// The queues of the virtual host; the broker counts every five seconds.
    func queues() async throws -> [BrokerQueue] {
        let path = "queues/\(Self.escaped(self.virtualHost))?columns=name,messages,consumers"
        let answer = try await self.send(self.call(.get, path))
        guard answer.status == 200 else { throw Refused(status: answer.status) }
        return try JSONDecoder().decode([BrokerQueue].self, from: Data(answer.body))
    }

    private func call(_ method: HTTPMethod, policy: String) -> HTTPCall {
        self.call(method, "policies/\(Self.escaped(self.virtualHost))/\(Self.escaped(policy))")
    }

    private func call(_ method: HTTPMethod, _ path: String) -> HTTPCall {
        HTTPCall(
            method,
            "\(self.base)/api/\(path)",
            headers: [("Authorization", self.authorization)],
            longestAnswer: Self.maximumBytes
        )
    }

    /// Asked by and by: who is away is asked again the next time.
    private func send(_ call: HTTPCall) async throws(HTTPFailure) -> HTTPAnswer {
        try await self.http.send(call, within: Self.timeout, patience: .zero)
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~"))) ?? text
    }
}

extension RabbitMQManagement: CustomStringConvertible, CustomReflectable {
    /// The address, without the password: a service is described in the log when it starts.
    var description: String { "RabbitMQManagement(\(self.base))" }
    /// No children, so that `dump` shows nothing.
    var customMirror: Mirror { Mirror(self, children: []) }
}
