import AMQP
import Contracts
import EventLoops
import Foundation
import TestSupport
import Testing

@testable import Messaging

@Suite("Rights of the broker's users")
struct BrokerRightsTests {
    private static let password = "a-password-of-a-test"

    /// Makes a user on a virtual host, as `transfactl topology users` does.
    private func make(_ user: BrokerUser, on vhost: TestVhost) async throws -> AMQPConfiguration {
        let (name, rights) = ("\(vhost.name)-\(user.name)", user.rights)
        func put(_ path: String, _ values: [String: String]) async throws {
            let body = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
            try await vhost.management("PUT", path, body: body)
        }
        try await put("users/\(name)", ["password": Self.password, "tags": user.tags])
        try await put(
            "permissions/\(vhost.name)/\(name)",
            ["configure": rights.configure, "write": rights.write, "read": rights.read]
        )
        try await put(
            "topic-permissions/\(vhost.name)/\(name)",
            ["exchange": Topology.exchange, "write": rights.keys, "read": ".*"]
        )
        var parts = try #require(URLComponents(string: vhost.url))
        (parts.user, parts.password) = (name, Self.password)
        return try Broker.configuration(try #require(parts.string))
    }

    private func forget(_ users: [BrokerUser], on vhost: TestVhost) async throws {
        for user in users { try await vhost.management("DELETE", "users/\(vhost.name)-\(user.name)") }
    }

    /// Whether the broker took a message.
    private func publishes(
        _ configuration: AMQPConfiguration,
        _ key: String,
        to exchange: String = Topology.exchange
    ) async throws -> Bool {
        let publisher = AMQPPublisher(configuration: configuration, logger: quiet)
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await publisher.run() }
            let message = AMQPMessage(exchange: exchange, routingKey: key, body: [0x7b, 0x7d], messageID: "m")
            let outcomes = await publisher.publish([message])
            group.cancelAll()
            return outcomes.allSatisfy(\.isConfirmed)
        }
    }

    @Test("each kind may be published by its publisher alone, and each queue read by its service alone")
    func patterns() throws {
        for user in BrokerUser.all {
            let rights = user.rights
            let (keys, read) = (try Regex(rights.keys), try Regex(rights.read))
            for definition in EventCatalogue.all {
                let key = Topology.routingKey(type: definition.type, subject: UUID().uuidString)
                let isOwn = user == .service(definition.source)
                #expect((key.wholeMatch(of: keys) != nil) == isOwn, "\(user.name) \(key)")
                for odd in ["0\(key)", "\(key).x", "x\(key)"] { #expect(odd.wholeMatch(of: keys) == nil) }
            }
            for service in ServiceName.allCases {
                for queue in Topology.queues(of: service) {
                    #expect((queue.name.wholeMatch(of: read) != nil) == (user == .service(service)), "\(user.name)")
                }
            }
            guard case .service = user else { continue }
            #expect(rights.configure == "^$" && (rights.write == "^$" || rights.write == #"^(transfa\.events)$"#))
        }
    }

    @Test(
        "on a broker, a service publishes its own kinds and nothing else; who declares, sets policies or looks, nothing"
    )
    func onBroker() async throws {
        try await withTestVhost { vhost in
            let users: [BrokerUser] = [
                .topology, .policies, .observer, .service(.subscription), .service(.analytics),
            ]
            let topology = try await self.make(.topology, on: vhost)
            try await AMQPAdmin.withConnection(topology, logger: quiet) { admin in
                try await admin.declareExchange(Topology.exchange, kind: .topic)
                try await admin.declareQueue(Topology.eventLog, kind: .stream)
                try await admin.bind(queue: Topology.eventLog, exchange: Topology.exchange, routingKey: "#")
            }
            let subscription = try await self.make(.service(.subscription), on: vhost)
            let (own, foreign) = ("07.subscription.activated", "07.device.registered")
            var taken: [Bool] = []
            taken.append(try await self.publishes(subscription, own))
            taken.append(try await self.publishes(subscription, foreign))
            taken.append(try await self.publishes(subscription, Topology.eventLog, to: ""))
            for user in [BrokerUser.topology, .policies, .observer, .service(.analytics)] {
                taken.append(try await self.publishes(try await self.make(user, on: vhost), foreign))
            }
            #expect(taken == [true, false, false, false, false, false, false])
            await #expect(throws: AMQPError.self) {
                try await AMQPAdmin.withConnection(subscription, logger: quiet) { admin in
                    try await admin.declareQueue("subscription.p0", kind: .quorum)
                }
            }
            let tags = users.map(\.tags)
            #expect(tags == ["", "policymaker", "management", "", ""])
            try await self.forget(users, on: vhost)
        }
    }
}
