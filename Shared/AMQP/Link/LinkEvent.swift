/// What the broker told us, copied out of the library's memory.
enum LinkEvent {
    case ack(tag: UInt64, multiple: Bool)
    case nack(tag: UInt64, multiple: Bool)
    case returned(ReturnedMessage)
    case delivery(AMQPDelivery)
    case consumerCancelled
    case channelClosed(AMQPError)
    case connectionClosed(AMQPError)
    case blocked(reason: String)
    case unblocked
}

/// A mandatory message that no queue took.
///
/// The broker gives no tag, so what it was published with identifies it.
struct ReturnedMessage {
    let code: UInt16
    let text: String
    let exchange: String
    let routingKey: String
    var messageID = ""
}
