import CRabbitMQ

/// Puts a message together from its method, header and body frames.
///
/// The library's own `amqp_read_message` blocks until the last frame is there; a broker that stops half-way would hold
/// the thread. So frames are taken as they come.
struct ContentAssembler: ~Copyable {
    enum Method {
        case deliver(tag: UInt64, redelivered: Bool, exchange: String, routingKey: String)
        case returned(ReturnedMessage)
    }

    private struct Partial {
        var method: Method
        var properties: Properties
        var body: [UInt8]
        var bodySize: Int
    }

    private enum State {
        case idle
        case awaitingHeader(Method)
        case awaitingBody(Partial)
    }

    private var state = State.idle

    /// A method that has content arrived.
    mutating func begin(_ method: Method) throws(AMQPError) {
        guard case .idle = self.state else {
            throw AMQPError(.protocolViolation, "a message began inside another one")
        }
        self.state = .awaitingHeader(method)
    }

    mutating func header(_ properties: Properties, bodySize: UInt64) throws(AMQPError) -> LinkEvent? {
        guard case .awaitingHeader(let method) = self.state else {
            throw AMQPError(.protocolViolation, "a header frame without a method")
        }
        guard bodySize <= UInt64(Int32.max) else {
            throw AMQPError(.protocolViolation, "a body of \(bodySize) bytes")
        }
        var partial = Partial(method: method, properties: properties, body: [], bodySize: Int(bodySize))
        partial.body.reserveCapacity(partial.bodySize)
        return self.advance(partial)
    }

    mutating func body(_ fragment: UnsafeRawBufferPointer) throws(AMQPError) -> LinkEvent? {
        guard case .awaitingBody(var partial) = self.state else {
            throw AMQPError(.protocolViolation, "a body frame without a header")
        }
        // Taken out of the state so that the array is not copied on every fragment.
        self.state = .idle
        partial.body.append(contentsOf: fragment)
        guard partial.body.count <= partial.bodySize else {
            throw AMQPError(.protocolViolation, "more body than the header announced")
        }
        return self.advance(partial)
    }

    /// The channel ended; what was half there will not be completed.
    mutating func reset() { self.state = .idle }

    private mutating func advance(_ partial: Partial) -> LinkEvent? {
        guard partial.body.count == partial.bodySize else {
            self.state = .awaitingBody(partial)
            return nil
        }
        self.state = .idle
        switch partial.method {
        case .deliver(let tag, let redelivered, let exchange, let routingKey):
            let properties = partial.properties
            return .delivery(
                AMQPDelivery(
                    tag: tag,
                    redelivered: redelivered,
                    exchange: exchange,
                    routingKey: routingKey,
                    messageID: properties.messageID,
                    correlationID: properties.correlationID,
                    type: properties.type,
                    timestamp: properties.timestamp,
                    contentType: properties.contentType,
                    headers: properties.headers,
                    body: partial.body
                )
            )
        case .returned(var message):
            message.messageID = partial.properties.messageID ?? ""
            return .returned(message)
        }
    }
}

/// The properties of a message that we use.
struct Properties {
    var messageID: String?
    var correlationID: String?
    var type: String?
    var timestamp: UInt64?
    var contentType: String?
    var headers: [String: AMQPValue] = [:]

    init() {}

    /// Copies what is set.
    init(_ source: amqp_basic_properties_t) {
        func has(_ flag: Int32) -> Bool { source._flags & amqp_flags_t(flag) != 0 }
        if has(AMQP_BASIC_MESSAGE_ID_FLAG) { self.messageID = source.message_id.text }
        if has(AMQP_BASIC_CORRELATION_ID_FLAG) { self.correlationID = source.correlation_id.text }
        if has(AMQP_BASIC_TYPE_FLAG) { self.type = source.type.text }
        if has(AMQP_BASIC_TIMESTAMP_FLAG) { self.timestamp = source.timestamp }
        if has(AMQP_BASIC_CONTENT_TYPE_FLAG) { self.contentType = source.content_type.text }
        if has(AMQP_BASIC_HEADERS_FLAG) { self.headers = AMQPValue.decode(source.headers) }
    }
}
