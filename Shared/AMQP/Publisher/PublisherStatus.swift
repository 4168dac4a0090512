/// What other threads may ask about a publisher.
struct PublisherStatus: Sendable {
    var isConnected = false
    var isBlocked = false
}
