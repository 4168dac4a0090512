/// Why notification says no.
enum NotificationError: Error, Hashable, Sendable {
    /// The user has no such message.
    case notificationNotFound
    /// A webhook without a signature of ours.
    case badSignature
    /// Signed bytes that are no event.
    case malformedEvent
    /// More webhooks wait than can be taken in time.
    case tooManyWebhooks
    /// Money and security are heard on every channel.
    case notSuppressible(NotificationPreferences.Choice)
    /// As many streams are open as this process serves.
    case tooManyStreams
    /// A text that is no token of the push service.
    case malformedPushToken
    /// The user has no such token.
    case pushTokenNotFound
    /// A device that is not an active one of the user's own.
    case deviceUnknown
    /// A device that was registered a moment ago and has not been heard of yet.
    case deviceNotReady
    /// The session is over, though its token is good for another moment.
    case sessionEnded
    /// The user's profile is closed.
    case profileClosed
    /// The user has not signed up yet.
    case notOnboarded
    /// The user's data key was destroyed.
    case erased
}
