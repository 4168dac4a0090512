/// A message that arrived at a consumer.
public struct AMQPDelivery: Sendable {
    /// The broker's number for it on this channel.
    public let tag: UInt64
    /// Whether it was delivered before, to us or to another consumer.
    public let redelivered: Bool
    /// Where it was published.
    public let exchange: String
    /// The key it was published with.
    public let routingKey: String
    /// What names the message.
    public let messageID: String?
    /// The request that it belongs to.
    public let correlationID: String?
    /// The kind of event.
    public let type: String?
    /// The publisher's time, seconds since 1970.
    public let timestamp: UInt64?
    /// The media type of the body.
    public let contentType: String?
    /// Application headers and those of the broker.
    public let headers: [String: AMQPValue]
    /// The payload.
    public let body: [UInt8]

    /// How often a quorum queue had delivered it before: 0 the first time.
    public var deliveryCount: Int { Int(self.headers["x-delivery-count"]?.int64 ?? 0) }

    /// Its place in a stream; nil when it came from a queue.
    public var streamOffset: UInt64? { self.headers["x-stream-offset"]?.int64.map { UInt64(bitPattern: $0) } }
}
