import Foundation
import Messaging
import Primitives

/// Tells people something, each once per event: in the inbox, and by a push to each of their phones.
///
/// A row of `notifications` per event and person lets through what follows from it, so a repeated or replayed event
/// tells nobody twice on any channel.
struct FileNotices: Sendable {
    let inbox: InboxStore
    /// Nil when nothing is pushed.
    let pushes: PushStore?

    /// Tells of an event, in the transaction that handles it.
    ///
    /// In the order of the people, whose inboxes are locked one after the other.
    func callAsFunction(_ notices: [Notice], about eventID: UUID, in transaction: EventTransaction) async throws {
        for notice in notices.sorted(by: { $0.user.description < $1.user.description }) {
            let id = try await self.inbox.add(notice, about: eventID, in: transaction)
            try await self.pushes?.enqueue(id, in: transaction)
        }
    }
}
