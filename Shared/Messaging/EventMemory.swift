public import Foundation

/// Remembers outside of the database which events a service has committed.
///
/// A shortcut and nothing else: what it does not know the inbox decides. It is told after the commit, so whatever it
/// knows the inbox has; and it must not know in one epoch what it was told in another.
public protocol EventMemory: Sendable {
    /// Those of these events that were noted in this epoch; nil when it does not say.
    func known(_ ids: [UUID], in epoch: String) async -> Set<UUID>?

    /// Notes that these events are in the inbox.
    ///
    /// It may forget them, and says nothing when it cannot note them.
    func note(_ ids: [UUID], in epoch: String) async

    /// Counts how deliveries were recognised.
    func count(_ outcome: EventRecollection, _ number: Int)
}

/// How an event that was delivered was recognised.
public enum EventRecollection: Sendable {
    /// The inbox did not have it.
    case first
    /// The memory knew it; there was no transaction.
    case repeatFromMemory
    /// The inbox had it, or it came twice in one batch.
    case repeatFromDatabase
    /// The memory did not say; how the inbox then decided is counted as well.
    case unknown
}
