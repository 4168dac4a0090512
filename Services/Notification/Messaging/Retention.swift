import Foundation
import Messaging
import Primitives

/// Forgets old messages.
enum Retention {
    /// Messages deleted in one run: a run must not hold the locks of many inboxes for long.
    static let batch = 2000

    /// The schedule; it keeps up with 80 messages a second on average.
    static func schedule(keeping time: Duration, inbox: InboxStore) -> Schedule {
        Schedule("old_notifications", every: .seconds(25)) { transaction in
            let moment = transaction.now.addingTimeInterval(-(time / .seconds(1)))
            _ = try await inbox.forget(before: moment, limit: Self.batch, in: transaction)
        }
    }
}
