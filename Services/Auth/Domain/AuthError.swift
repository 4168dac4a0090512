import Foundation

/// Why auth says no.
enum AuthError: Error, Hashable, Sendable {
    /// Somebody else has the username, or one that looks like it.
    case usernameTaken
    /// Another account that goes on was opened with this BVN or registration.
    case identityInUse(pointer: String)
    /// There is no such user.
    case userNotFound
    /// An operator gives back the identity of an account that goes on: it is neither frozen nor rejected.
    case notFrozen
    /// The user has signed up before.
    case alreadyOnboarded
    /// The user has not signed up.
    case notOnboarded
    /// The provider has approved the details: they stay as they are.
    case alreadyVerified
    /// There is a PIN, and the request does not have it.
    case currentPINRequired
    /// There is no PIN yet.
    case pinNotSet
    /// The PIN is wrong.
    case pinInvalid(attemptsLeft: Int)
    /// Too many wrong PINs; nothing is checked before that time.
    case pinLocked(secondsLeft: Int)
    /// Somebody changed the PIN at the same moment.
    case pinChanged
    /// The idempotency key was used for another try.
    case keyReused
    /// The user has not signed in lately.
    case reverificationRequired
    /// The session is over, though its token is good for another moment.
    case sessionEnded
    /// Too many PINs are being checked.
    case busy
    /// No such device of this user.
    case deviceNotFound
    /// The user has as many devices as are allowed.
    case tooManyDevices
    /// A message of Clerk that is not signed, or was signed long ago.
    case badSignature
    /// Signed bytes that are no message.
    case malformedMessage
    /// There is no such key.
    case keyNotFound
    /// The key was destroyed.
    case erased
}
