/// Something in the event log that is no event: kept as it is, for people to look at.
struct MalformedMessage: Sendable {
    /// Longer ones are cut.
    static let maximumBytes = 1024 * 1024

    let offset: UInt64
    let routingKey: String
    let reason: ArchivedEvent.MalformedReason
    let body: [UInt8]

    /// What tells it from others.
    var digest: [UInt8] { StreamPlace.digest(of: self.body) }
}
