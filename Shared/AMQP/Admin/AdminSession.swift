import CRabbitMQ
import EventLoops

/// One connection for requests, on its own thread.
actor AdminSession {
    private let threads: LinkThreads
    private var opener: LinkOpener
    private var link: Link?

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.threads.loop.asUnownedSerialExecutor() }

    init(_ configuration: AMQPConfiguration, threads: LinkThreads) {
        self.threads = threads
        var configuration = configuration
        configuration.heartbeat = .zero
        self.opener = LinkOpener(configuration, role: "admin", threads.callGuard)
    }

    func close() {
        self.link?.close()
        self.link = nil
    }

    // MARK: Exchanges

    func declareExchange(
        _ name: String,
        kind: AMQPAdmin.ExchangeKind,
        arguments: [String: AMQPValue]
    ) async throws(AMQPError) {
        try await self.request("declaring exchange \(name)") { link in
            let table = link.arena.table(arguments)
            let (name, kind) = (link.arena.bytes(name), link.arena.bytes(kind.rawValue))
            amqp_exchange_declare(link.state, Link.channel, name, kind, 0, 1, 0, 0, table)
        }
    }

    func checkExchange(_ name: String) async throws(AMQPError) {
        try await self.request("looking at exchange \(name)") { link in
            let bytes = link.arena.bytes(name)
            amqp_exchange_declare(
                link.state,
                Link.channel,
                bytes,
                link.arena.bytes("topic"),
                1,
                0,
                0,
                0,
                amqp_empty_table
            )
        }
    }

    func deleteExchange(_ name: String) async throws(AMQPError) {
        try await self.request("deleting exchange \(name)") { link in
            amqp_exchange_delete(link.state, Link.channel, link.arena.bytes(name), 0)
        }
    }

    // MARK: Queues

    func declareQueue(
        _ name: String,
        kind: AMQPAdmin.QueueKind,
        arguments: [String: AMQPValue]
    ) async throws(AMQPError) -> AMQPAdmin.QueueStatus {
        var arguments = arguments
        arguments["x-queue-type"] = .string(kind.rawValue)
        return try await self.declareQueue(name, passive: 0, table: arguments, "declaring queue \(name)")
    }

    func passiveDeclare(_ name: String) async throws(AMQPError) -> AMQPAdmin.QueueStatus {
        try await self.declareQueue(name, passive: 1, table: [:], "looking at queue \(name)")
    }

    private func declareQueue(
        _ name: String,
        passive: amqp_boolean_t,
        table: [String: AMQPValue],
        _ operation: String
    ) async throws(AMQPError) -> AMQPAdmin.QueueStatus {
        var status = AMQPAdmin.QueueStatus(messages: 0, consumers: 0)
        try await self.request(operation) { link in
            let arguments = link.arena.table(table)
            let bytes = link.arena.bytes(name)
            let ok = amqp_queue_declare(link.state, Link.channel, bytes, passive, 1, 0, 0, arguments)
            guard let ok = ok?.pointee else { return }
            status = AMQPAdmin.QueueStatus(messages: Int(ok.message_count), consumers: Int(ok.consumer_count))
        }
        return status
    }

    func deleteQueue(_ name: String) async throws(AMQPError) -> Int {
        var count = 0
        try await self.request("deleting queue \(name)") { link in
            let ok = amqp_queue_delete(link.state, Link.channel, link.arena.bytes(name), 0, 0)
            count = Int(ok?.pointee.message_count ?? 0)
        }
        return count
    }

    func purge(_ name: String) async throws(AMQPError) -> Int {
        var count = 0
        try await self.request("purging queue \(name)") { link in
            let ok = amqp_queue_purge(link.state, Link.channel, link.arena.bytes(name))
            count = Int(ok?.pointee.message_count ?? 0)
        }
        return count
    }

    // MARK: Bindings

    func bind(
        queue: String,
        exchange: String,
        routingKey: String,
        arguments: [String: AMQPValue]
    ) async throws(AMQPError) {
        try await self.request("binding queue \(queue) to \(exchange)") { link in
            let table = link.arena.table(arguments)
            let (queue, exchange) = (link.arena.bytes(queue), link.arena.bytes(exchange))
            amqp_queue_bind(link.state, Link.channel, queue, exchange, link.arena.bytes(routingKey), table)
        }
    }

    func unbind(
        queue: String,
        exchange: String,
        routingKey: String,
        arguments: [String: AMQPValue]
    ) async throws(AMQPError) {
        try await self.request("unbinding queue \(queue) from \(exchange)") { link in
            let table = link.arena.table(arguments)
            let (queue, exchange) = (link.arena.bytes(queue), link.arena.bytes(exchange))
            amqp_queue_unbind(link.state, Link.channel, queue, exchange, link.arena.bytes(routingKey), table)
        }
    }

    // MARK: Requests

    /// Makes a request.
    ///
    /// A closed channel is opened again, a lost connection is made again by the next request.
    private func request(_ operation: String, _ call: (Link) -> Void) async throws(AMQPError) {
        await self.threads.watchdog.start()
        do throws(AMQPError) {
            let link = try self.openLink()
            try link.request(operation) { call(link) }
        } catch {
            let error = AMQPError(error.code, "\(operation): \(error.message)", replyCode: error.replyCode)
            guard error.code == .channelClosed, let link = self.link else {
                self.link = nil
                throw error
            }
            self.reopenChannel(link)
            throw error
        }
    }

    private func openLink() throws(AMQPError) -> Link {
        if let link = self.link { return link }
        let link = try self.opener.open()
        self.link = link
        return link
    }

    private func reopenChannel(_ link: Link) {
        do throws(AMQPError) {
            try link.confirmChannelClose()
            try link.openChannel()
        } catch {
            self.link = nil
        }
    }
}
