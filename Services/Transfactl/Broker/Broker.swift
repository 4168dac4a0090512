import AMQP
import ContractGate
import Foundation
import Messaging
import OutgoingHTTP

/// RabbitMQ, by its management API.
struct Broker: Sendable {
    private static let longestAnswer = 16 * 1024 * 1024
    private static let deadline = Duration.seconds(15)

    private let http: HTTPClient
    private let base: String
    private let authorization: String
    private let host: String

    /// Gives `body` the broker that the environment names.
    static func with<Value: Sendable>(_ body: (Broker) async throws(Failure) -> Value) async throws(Failure) -> Value {
        try await self.with(ProcessInfo.processInfo.environment, body)
    }

    /// Gives `body` the broker that these variables name.
    static func with<Value: Sendable>(
        _ environment: [String: String],
        _ body: (Broker) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let (base, authorization) = try Self.address(environment["RABBITMQ_MANAGEMENT_URL"] ?? "")
        guard let url = environment["RABBITMQ_URL"], let configuration = try? AMQPConfiguration(url: url) else {
            throw Failure("RABBITMQ_URL is missing or no address of a broker.")
        }
        let broker = Broker(
            http: HTTPClient(),
            base: base,
            authorization: authorization,
            host: Self.escaped(configuration.virtualHost)
        )
        return try await body(broker)
    }

    private static func address(_ url: String) throws(Failure) -> (base: String, authorization: String) {
        guard var parts = URLComponents(string: url), parts.host != nil else {
            throw Failure("RABBITMQ_MANAGEMENT_URL is missing or no http://user:password@host:port.")
        }
        let credentials = "\(parts.user ?? "guest"):\(parts.password ?? "guest")"
        (parts.user, parts.password, parts.path) = (nil, nil, "")
        return (parts.string ?? "", "Basic " + Data(credentials.utf8).base64EncodedString())
    }

    // MARK: Looking

    /// What it has.
    func objects() async throws(Failure) -> BrokerObjects {
        var objects = BrokerObjects()
        for exchange in try await self.list("exchanges") {
            objects.exchanges[exchange["name"]?.text ?? ""] = exchange["type"]?.text
        }
        for queue in try await self.list("queues") {
            let isSingle = queue["arguments"]?["x-single-active-consumer"] == true
            let found = BrokerObjects.Queue(kind: queue["type"]?.text ?? "classic", isSingle: isSingle)
            objects.queues[queue["name"]?.text ?? ""] = found
        }
        for binding in try await self.list("bindings") where binding["destination_type"]?.text == "queue" {
            let found = BrokerObjects.Binding(
                exchange: binding["source"]?.text ?? "",
                queue: binding["destination"]?.text ?? "",
                key: binding["routing_key"]?.text ?? ""
            )
            objects.bindings.insert(found)
        }
        for policy in try await self.list("policies") {
            let definition = policy["definition"]?.members ?? [:]
            objects.policies[policy["name"]?.text ?? ""] = definition.compactMapValues { value in
                value.number.map { .number(Int($0)) } ?? value.text.map(BrokerPolicyValue.text)
            }
        }
        return objects
    }

    /// What all of its users are called.
    func userNames() async throws(Failure) -> Set<String> {
        let users = (try? JSONNode(json: Data(try await self.send(.get, "users"))))?.elements ?? []
        return Set(users.compactMap { $0["name"]?.text })
    }

    private func list(_ kind: String) async throws(Failure) -> [JSONNode] {
        let answer = try await self.send(.get, "\(kind)/\(self.host)")
        guard let list = (try? JSONNode(json: Data(answer)))?.elements else {
            throw Failure("The broker's list of \(kind) cannot be read.")
        }
        return list
    }

    // MARK: Acting

    /// Does one thing.
    func perform(_ step: TopologyPlan.Step) async throws(Failure) {
        switch step {
        case .declareExchange(let name, let kind):
            let body: JSONNode = ["type": .text(kind), "durable": true]
            _ = try await self.send(.put, "exchanges/\(self.host)/\(Self.escaped(name))", body)
        case .declareQueue(let name, let kind, let isSingle):
            var arguments: [String: JSONNode] = ["x-queue-type": .text(kind)]
            if isSingle { arguments["x-single-active-consumer"] = true }
            let body: JSONNode = ["durable": true, "arguments": .object(arguments)]
            _ = try await self.send(.put, "queues/\(self.host)/\(Self.escaped(name))", body)
        case .bind(let binding):
            let body: JSONNode = ["routing_key": .text(binding.key), "arguments": [:]]
            _ = try await self.send(.post, self.path(of: binding), body)
        case .unbind(let binding): try await self.unbind(binding)
        case .setPolicy(let policy):
            let definition = policy.definition.mapValues { value -> JSONNode in
                switch value {
                case .text(let text): .text(text)
                case .number(let number): .number(Int64(number))
                }
            }
            let body: JSONNode = [
                "pattern": .text(policy.pattern), "definition": .object(definition), "apply-to": "queues",
            ]
            _ = try await self.send(.put, "policies/\(self.host)/\(Self.escaped(policy.name))", body)
        }
    }

    /// Makes a user with these rights in the virtual host, or gives one of those `known` these rights and this password.
    func make(
        _ user: BrokerUser,
        called name: String,
        password: String,
        known: Set<String>
    ) async throws(Failure) {
        let (own, rights) = (Self.escaped(name), user.rights)
        let login: JSONNode = ["password": .text(password), "tags": .text(user.tags)]
        // The rights come first where there is a user already: nobody has none of them in between.
        if !known.contains(name) { _ = try await self.send(.put, "users/\(own)", login) }
        let names: JSONNode = [
            "configure": .text(rights.configure), "write": .text(rights.write), "read": .text(rights.read),
        ]
        _ = try await self.send(.put, "permissions/\(self.host)/\(own)", names)
        let keys: JSONNode = [
            "exchange": .text(Topology.exchange), "write": .text(rights.keys), "read": ".*",
        ]
        _ = try await self.send(.put, "topic-permissions/\(self.host)/\(own)", keys)
        _ = try await self.send(.put, "users/\(own)", login)
    }

    /// The broker has a name of its own for each binding.
    private func unbind(_ binding: BrokerObjects.Binding) async throws(Failure) {
        let path = self.path(of: binding)
        let bindings = (try? JSONNode(json: Data(try await self.send(.get, path))))?.elements ?? []
        for found in bindings where found["routing_key"]?.text == binding.key {
            guard let name = found["properties_key"]?.text else { continue }
            _ = try await self.send(.delete, "\(path)/\(Self.escaped(name))")
        }
    }

    private func path(of binding: BrokerObjects.Binding) -> String {
        "bindings/\(self.host)/e/\(Self.escaped(binding.exchange))/q/\(Self.escaped(binding.queue))"
    }

    private func send(_ method: HTTPMethod, _ path: String, _ body: JSONNode? = nil) async throws(Failure) -> [UInt8] {
        var call = HTTPCall(
            method,
            "\(self.base)/api/\(path)",
            headers: [("Authorization", self.authorization)],
            longestAnswer: Self.longestAnswer
        )
        if let body {
            call.headers.append(("Content-Type", "application/json"))
            call.body = Array(Output.line(body).utf8)
        }
        let answer: HTTPAnswer
        // One that has just been started is waited for: all that is asked of it is the same when it is asked twice.
        do throws(HTTPFailure) {
            answer = try await self.http.send(call, within: Self.deadline, patience: .seconds(10))
        } catch {
            throw Failure("The broker at \(self.base) gave no answer (\(error)).")
        }
        guard answer.isSuccess else {
            throw Failure("The broker answered \(method.rawValue) \(path) with \(answer.status).")
        }
        return answer.body
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~"))) ?? text
    }
}
