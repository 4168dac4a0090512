import Foundation

/// A RabbitMQ virtual host of one test.
public struct TestVhost: Sendable {
    /// Its name.
    public let name: String
    /// `amqp://` to it.
    public let url: String
    /// `amqps://localhost` to it, with the certificate authority as `cacertfile`; empty on a broker without TLS.
    public let tlsURL: String
    /// The management API of its node, `http://user:password@host:port`.
    public let managementURL: String

    /// One that exists.
    public init(name: String, url: String, tlsURL: String = "", managementURL: String) {
        self.name = name
        self.url = url
        self.tlsURL = tlsURL
        self.managementURL = managementURL
    }

    /// Calls the management API and returns the body of the answer.
    ///
    /// The path is what follows `/api/`, such as `queues/\(name)/\(queue)`.
    @discardableResult
    public func management(_ method: String, _ path: String, body: String? = nil) async throws -> String {
        var arguments = ["-fsS", "--max-time", "20", "-X", method, "-H", "content-type: application/json"]
        if let body {
            arguments += ["-d", body]
        }
        return try await Command.run("curl", arguments + ["\(self.managementURL)/api/\(path)"])
    }

    /// Deletes a queue under its consumers.
    public func deleteQueue(_ queue: String) async throws {
        try await self.management("DELETE", "queues/\(self.name)/\(queue)")
    }

    /// The routing keys that bind a queue to an exchange other than the default one.
    public func bindings(of queue: String) async throws -> Set<String> {
        struct Binding: Decodable {
            let source: String
            let key: String

            private enum CodingKeys: String, CodingKey {
                case source
                case key = "routing_key"
            }
        }
        let list = try await self.management("GET", "queues/\(self.name)/\(queue)/bindings")
        let bindings = try JSONDecoder().decode([Binding].self, from: Data(list.utf8))
        return Set(bindings.filter { !$0.source.isEmpty }.map(\.key))
    }

    /// The connections to this vhost that the broker lists; one that is new is missing for some seconds.
    public func connections() async throws -> [String] {
        struct Connection: Decodable {
            let name: String
        }
        let list = try await self.management("GET", "vhosts/\(self.name)/connections")
        return try JSONDecoder().decode([Connection].self, from: Data(list.utf8)).map(\.name)
    }

    /// Closes every connection to this vhost that is listed, from the broker's side.
    public func closeConnections() async throws {
        for connection in try await self.connections() {
            let name = connection.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? connection
            do {
                try await self.management("DELETE", "connections/\(name)")
            } catch let error as TestFailure where "\(error)".contains("404") {
                // It has ended by itself in the meantime. Any other failure would leave it open, unseen by the test.
            }
        }
    }
}

/// Runs `body` with a virtual host of its own and deletes it afterwards.
public func withTestVhost<Result>(
    on servers: TestServers? = nil,
    _ body: (TestVhost) async throws -> Result
) async throws -> Result {
    let servers = try servers ?? TestServers.shared()
    let name = "t-\(Scratch.shortName())"
    let vhost = TestVhost(
        name: name,
        url: try servers.rabbitmqURL.replacingOccurrences(of: "/%2F", with: "/\(name)"),
        tlsURL: try servers.rabbitmqTLSURL.replacingOccurrences(of: "/%2F", with: "/\(name)"),
        managementURL: try servers.managementURL
    )
    // The user who creates a vhost over the API gets all permissions on it.
    try await vhost.management("PUT", "vhosts/\(name)")
    do {
        let result = try await body(vhost)
        try await vhost.management("DELETE", "vhosts/\(name)")
        return result
    } catch {
        _ = try? await vhost.management("DELETE", "vhosts/\(name)")
        throw error
    }
}
