/// A message to publish.
public struct AMQPMessage: Sendable {
    /// The exchange; the empty name is the default exchange, which routes to the queue named by the key.
    public var exchange: String
    /// The routing key.
    public var routingKey: String
    /// The payload.
    public var body: [UInt8]
    /// What names the message.
    ///
    /// Also pairs a returned message with its publish, so it should be unique.
    public var messageID: String
    /// The request that it belongs to.
    public var correlationID: String?
    /// The kind of event.
    public var type: String?
    /// Seconds since 1970.
    public var timestamp: UInt64?
    /// The media type of the body.
    public var contentType: String?
    /// Application headers.
    public var headers: [String: AMQPValue]
    /// Whether the message survives a restart of the broker.
    public var persistent: Bool
    /// Whether a message that no queue takes comes back (`PublishOutcome.returned`) instead of vanishing.
    public var mandatory: Bool

    /// Makes a message; persistent and mandatory unless told otherwise.
    public init(
        exchange: String,
        routingKey: String,
        body: [UInt8],
        messageID: String,
        correlationID: String? = nil,
        type: String? = nil,
        timestamp: UInt64? = nil,
        contentType: String? = nil,
        headers: [String: AMQPValue] = [:],
        persistent: Bool = true,
        mandatory: Bool = true
    ) {
        self.exchange = exchange
        self.routingKey = routingKey
        self.body = body
        self.messageID = messageID
        self.correlationID = correlationID
        self.type = type
        self.timestamp = timestamp
        self.contentType = contentType
        self.headers = headers
        self.persistent = persistent
        self.mandatory = mandatory
    }
}

extension AMQPMessage {
    /// The protocol's limit for short strings, in bytes.
    static let shortStringLimit = 255

    /// Why the protocol cannot carry this message.
    ///
    /// Checked before the first frame is sent: a message that fails half-way would ruin the channel.
    ///
    /// - Parameter headerLimit: The bytes that properties and headers may take in their one frame.
    /// - Returns: The reason, nil when it can be carried.
    func defect(headerLimit: Int) -> AMQPError? {
        let texts = [
            ("exchange", self.exchange), ("routing key", self.routingKey), ("message id", self.messageID),
            ("correlation id", self.correlationID ?? ""), ("type", self.type ?? ""),
            ("content type", self.contentType ?? ""),
        ]
        for (name, text) in texts where text.utf8.count > Self.shortStringLimit {
            return AMQPError(.invalidMessage, "the \(name) is longer than \(Self.shortStringLimit) bytes")
        }
        var size = 0
        for (key, value) in self.headers {
            guard key.utf8.count <= Self.shortStringLimit else {
                return AMQPError(.invalidMessage, "a header's name is longer than \(Self.shortStringLimit) bytes")
            }
            size += key.utf8.count + 1 + value.encodedSize
        }
        guard size <= headerLimit else { return AMQPError(.invalidMessage, "the headers take \(size) bytes") }
        return nil
    }
}

extension AMQPValue {
    /// An upper bound of the bytes this takes on the wire.
    var encodedSize: Int {
        switch self {
        case .string(let text): text.utf8.count + 5
        case .bytes(let bytes): bytes.count + 5
        case .int64, .timestamp, .double: 9
        case .bool: 2
        case .list(let values): values.reduce(5) { $0 + $1.encodedSize }
        case .table(let values): values.reduce(5) { $0 + $1.key.utf8.count + 1 + $1.value.encodedSize }
        }
    }
}
