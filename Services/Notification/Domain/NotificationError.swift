/// Why notification says no.
enum NotificationError: Error, Hashable, Sendable {
    /// The user has no such message.
    case notificationNotFound
    /// A webhook without a signature of ours.
    case badSignature
    /// Signed bytes that are no event.
    case malformedEvent
}
