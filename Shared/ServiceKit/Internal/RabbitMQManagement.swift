import AsyncHTTPClient
import Foundation
import Messaging
import NIOCore
import NIOHTTP1

/// RabbitMQ's management API: policies, and how long the queues are.
struct RabbitMQManagement: BrokerManagement {
    private static let timeout = TimeAmount.seconds(5)
    private static let maximumBytes = 64 * 1024

    private let base: String
    private let authorization: String?
    private let virtualHost: String
    private let http: HTTPClient

    struct Refused: Error {
        let status: UInt
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
        let response = try await self.http.execute(self.request(name), timeout: Self.timeout)
        guard response.status != .notFound else { return nil }
        guard response.status == .ok else { throw Refused(status: response.status.code) }
        let body = try await response.body.collect(upTo: Self.maximumBytes)
        return try JSONDecoder().decode(Policy.self, from: Data(Array(buffer: body))).definition
    }

    func set(_ policy: BrokerPolicy) async throws {
        var request = self.request(policy.name)
        request.method = .PUT
        request.headers.add(name: "Content-Type", value: "application/json")
        let body = Policy(pattern: policy.pattern, definition: policy.definition, applyTo: "queues")
        request.body = .bytes(Array(try JSONEncoder().encode(body)))
        let response = try await self.http.execute(request, timeout: Self.timeout)
        guard (200..<300).contains(response.status.code) else { throw Refused(status: response.status.code) }
    }

    /// The queues of the virtual host; the broker counts every five seconds.
    func queues() async throws -> [BrokerQueue] {
        let path = "queues/\(Self.escaped(self.virtualHost))?columns=name,messages,consumers"
        let response = try await self.http.execute(self.request(path: path), timeout: Self.timeout)
        guard response.status == .ok else { throw Refused(status: response.status.code) }
        let body = try await response.body.collect(upTo: Self.maximumBytes)
        return try JSONDecoder().decode([BrokerQueue].self, from: Data(Array(buffer: body)))
    }

    private func request(_ policy: String) -> HTTPClientRequest {
        self.request(path: "policies/\(Self.escaped(self.virtualHost))/\(Self.escaped(policy))")
    }

    private func request(path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "\(self.base)/api/\(path)")
        if let authorization = self.authorization {
            request.headers.add(name: "Authorization", value: authorization)
        }
        return request
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
