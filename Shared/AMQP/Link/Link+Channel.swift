import CRabbitMQ
import Glibc

extension Link {
    /// A peer that is half dead must not hold up a shutdown.
    private static let goodbyePatience: Duration = .seconds(2)

    /// Runs a request that the broker answers.
    ///
    /// - Throws: `channelClosed` when the broker refused it: the channel has to be opened again then.
    func request(_ operation: String, _ call: () -> Void) throws(AMQPError) {
        self.arena.reset()
        self.callGuard.call(call)
        try self.answered(amqp_get_rpc_reply(self.state), operation)
    }

    private func answered(_ reply: amqp_rpc_reply_t, _ operation: String) throws(AMQPError) {
        do throws(AMQPError) {
            try Self.check(reply, operation)
        } catch {
            if self.callGuard.wasCut { throw AMQPError(.callStuck, "\(operation) took too long") }
            throw error
        }
    }

    func openChannel() throws(AMQPError) {
        try self.request("opening the channel") { amqp_channel_open(self.state, Self.channel) }
    }

    /// From here on the broker answers every publish with an ack or a nack.
    func selectConfirms() throws(AMQPError) {
        try self.request("selecting confirms") { amqp_confirm_select(self.state, Self.channel) }
    }

    /// Agrees to the broker's closing of the channel; its number can be opened again afterwards.
    func confirmChannelClose() throws(AMQPError) {
        self.discardPartialMessage()
        var ok = amqp_channel_close_ok_t()
        let status = self.callGuard.call {
            amqp_send_method(self.state, Self.channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok)
        }
        try self.check(status, "closing the channel")
    }

    /// Closes the channel ourselves: what is not settled goes back to its queue.
    ///
    /// What came before the answer has been put by in the library, deliveries among it. The next channel has the same
    /// number and other tags: there they would count as its own, and acknowledge what nobody has handled.
    func closeChannel() throws(AMQPError) {
        // The library does not keep the reply to this request: asked afterwards it gives that to the one before.
        let reply = self.callGuard.call { amqp_channel_close(self.state, Self.channel, AMQP_REPLY_SUCCESS) }
        try self.answered(reply, "closing the channel")
        while amqp_frames_enqueued(self.state) != 0 { _ = try self.nextEvent() }
        self.discardPartialMessage()
    }

    /// Says goodbye and waits a little for the answer; errors do not matter any more.
    func close() {
        var patience = timeval(Self.goodbyePatience)
        amqp_set_rpc_timeout(self.state, &patience)
        _ = self.callGuard.call { amqp_connection_close(self.state, AMQP_REPLY_SUCCESS) }
    }

    /// Agrees to the broker's closing of the connection, as far as it still listens.
    func confirmConnectionClose() {
        var ok = amqp_connection_close_ok_t()
        _ = self.callGuard.call { amqp_send_method(self.state, 0, AMQP_CONNECTION_CLOSE_OK_METHOD, &ok) }
    }

    // MARK: Publishing

    /// Whether the socket takes bytes now.
    ///
    /// False means that a publish might block.
    var isWritable: Bool {
        var descriptor = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    /// Hands a message to the socket.
    ///
    /// That this works says nothing about the broker: only a confirm does.
    func publish(_ message: borrowing AMQPMessage) throws(AMQPError) {
        self.arena.reset()
        var properties = self.properties(of: message)
        let exchange = self.arena.bytes(message.exchange)
        let routingKey = self.arena.bytes(message.routingKey)
        let mandatory: amqp_boolean_t = message.mandatory ? 1 : 0
        let status = message.body.withUnsafeBytes { raw in
            // The library only reads the body, its type does not say so.
            let body = amqp_bytes_t(len: raw.count, bytes: UnsafeMutableRawPointer(mutating: raw.baseAddress))
            return self.callGuard.call {
                amqp_basic_publish(self.state, Self.channel, exchange, routingKey, mandatory, 0, &properties, body)
            }
        }
        try self.check(status, "publishing")
    }

    private func properties(of message: borrowing AMQPMessage) -> amqp_basic_properties_t {
        var properties = amqp_basic_properties_t()
        var flags = AMQP_BASIC_DELIVERY_MODE_FLAG
        properties.delivery_mode = message.persistent ? 2 : 1
        func set(_ text: String?, _ flag: Int32) -> amqp_bytes_t {
            guard let text, !text.isEmpty else { return amqp_empty_bytes }
            flags |= flag
            return self.arena.bytes(text)
        }
        properties.message_id = set(message.messageID, AMQP_BASIC_MESSAGE_ID_FLAG)
        properties.correlation_id = set(message.correlationID, AMQP_BASIC_CORRELATION_ID_FLAG)
        properties.type = set(message.type, AMQP_BASIC_TYPE_FLAG)
        properties.content_type = set(message.contentType, AMQP_BASIC_CONTENT_TYPE_FLAG)
        if let timestamp = message.timestamp {
            properties.timestamp = timestamp
            flags |= AMQP_BASIC_TIMESTAMP_FLAG
        }
        if !message.headers.isEmpty {
            properties.headers = self.arena.table(message.headers)
            flags |= AMQP_BASIC_HEADERS_FLAG
        }
        properties._flags = amqp_flags_t(flags)
        return properties
    }

    // MARK: Consuming

    /// Starts to consume, with at most `prefetch` deliveries unsettled.
    func consume(_ queue: String, prefetch: UInt16, tag: String, arguments: [String: AMQPValue]) throws(AMQPError) {
        try self.request("limiting the prefetch") { amqp_basic_qos(self.state, Self.channel, 0, prefetch, 0) }
        try self.request("consuming from \(queue)") {
            amqp_basic_consume(
                self.state,
                Self.channel,
                self.arena.bytes(queue),
                self.arena.bytes(tag),
                0,
                0,
                0,
                self.arena.table(arguments)
            )
        }
    }

    func acknowledge(upTo tag: UInt64) throws(AMQPError) {
        let status = self.callGuard.call { amqp_basic_ack(self.state, Self.channel, tag, 1) }
        try self.check(status, "acknowledging")
    }

    func refuse(_ tag: UInt64, requeue: Bool) throws(AMQPError) {
        let status = self.callGuard.call { amqp_basic_reject(self.state, Self.channel, tag, requeue ? 1 : 0) }
        try self.check(status, "refusing a delivery")
    }
}
