import AMQP
import TestSupport
import Testing

@Suite("Topology")
struct AdminTests {
    @Test("declaring twice is fine, with other arguments it is 406, and the admin goes on")
    func declare() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                try await admin.declareExchange("e")
                try await admin.declareExchange("e")
                try await admin.declareQueue("q", kind: .quorum, arguments: ["x-single-active-consumer": .bool(true)])
                try await admin.declareQueue("q", kind: .quorum, arguments: ["x-single-active-consumer": .bool(true)])
                let exchange = await #expect(throws: AMQPError.self) {
                    try await admin.declareExchange("e", kind: .fanout)
                }
                #expect(exchange?.isPreconditionFailed == true)
                let queue = await #expect(throws: AMQPError.self) { try await admin.declareQueue("q", kind: .classic) }
                #expect(queue?.replyCode == 406)
                try await admin.bind(queue: "q", exchange: "e", routingKey: "#")
            }
        }
    }

    @Test("what does not exist is 404, deleting it is fine")
    func missing() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                let queue = await #expect(throws: AMQPError.self) { try await admin.passiveDeclare("q") }
                #expect(queue?.isNotFound == true)
                let exchange = await #expect(throws: AMQPError.self) { try await admin.checkExchange("e") }
                #expect(exchange?.isNotFound == true)
                let binding = await #expect(throws: AMQPError.self) {
                    try await admin.bind(queue: "q", exchange: "e", routingKey: "k")
                }
                #expect(binding?.isNotFound == true)
                #expect(try await admin.deleteQueue("q") == 0)
                try await admin.deleteExchange("e")
            }
        }
    }

    @Test("bindings route and stop routing, purge and delete count")
    func bindings() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                try await admin.declareExchange("e")
                try await admin.declareQueue("q")
                try await admin.bind(queue: "q", exchange: "e", routingKey: "a.*")
                try await host.withPublisher { publisher in
                    #expect(await publisher.publish(message("1", exchange: "e", to: "a.b")).isConfirmed)
                    #expect(await publisher.publish(message("2", exchange: "e", to: "b.b")).isConfirmed == false)
                    try await admin.unbind(queue: "q", exchange: "e", routingKey: "a.*")
                    #expect(await publisher.publish(message("3", exchange: "e", to: "a.b")).isConfirmed == false)
                    #expect(await publisher.publish(message("4", to: "q")).isConfirmed)
                }
                try await eventually("two messages") { try await admin.passiveDeclare("q").messages == 2 }
                #expect(try await admin.purge("q") == 2)
                #expect(try await admin.passiveDeclare("q") == .init(messages: 0, consumers: 0))
            }
        }
    }

    @Test("a refusal that costs the connection is an error, and the next request connects again")
    func connectionLevel() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                try await admin.declareQueue("s", kind: .stream)
                // RabbitMQ closes the whole connection with 540 for a purge of a stream.
                let error = await #expect(throws: AMQPError.self) { try await admin.purge("s") }
                #expect(error?.code == .connectionClosed)
                #expect(error?.replyCode == 540)
                #expect(try await admin.passiveDeclare("s").consumers == 0)
            }
        }
    }
}
