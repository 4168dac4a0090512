import Contracts
import Foundation
import Messaging
import Primitives

/// Erases closed profiles once their data need not be kept any longer and no money is left.
///
/// Only transaction knows about the money, so it is asked by `user.erasure_due` and answers when there is none.
struct EraseClosedProfiles: Sendable {
    let users: UserStore
    let webhooks: ClerkWebhookStore
    let tries: PINTryStore
    let sessions: SessionStore
    let eraseUser: EraseUser
    /// How long a closed profile is kept.
    let retention: Duration

    private static let interval = Duration.seconds(10)
    private static let pauseBetweenQuestions = TimeInterval(24 * 60 * 60)
    private static let batch = 100
    /// Svix gives up long before.
    private static let webhookRetention = TimeInterval(30 * 24 * 60 * 60)
    /// Who repeats a try does it soon.
    private static let tryRetention = TimeInterval(24 * 60 * 60)

    /// Asks about profiles whose time is over; looks at a partial index only.
    var schedule: Schedule {
        Schedule("closed_profiles", every: Self.interval) { try await self.ask(in: $0) }
    }

    /// Asks once about each profile whose time is over, and forgets old messages of Clerk, tries of PINs and ended sessions.
    func ask(in transaction: EventTransaction) async throws {
        let now = transaction.now
        let due = try await self.users.takeForErasure(
            closedBefore: self.latestClosing(at: now),
            askedBefore: now.addingTimeInterval(-Self.pauseBetweenQuestions),
            limit: Self.batch,
            in: transaction
        )
        for user in due {
            try await transaction.publish(UserErasureDue(userID: user.uuid), about: user)
        }
        try await self.webhooks.prune(before: now.addingTimeInterval(-Self.webhookRetention), in: transaction)
        try await self.sessions.prune(in: transaction)
        try await self.tries.prune(before: now.addingTimeInterval(-Self.tryRetention), in: transaction)
    }

    /// No money is left: operators may be told so, too.
    func cleared(_ user: UserID, in transaction: EventTransaction) async throws {
        try await self.users.noteCleared(user, in: transaction)
        let closing = self.latestClosing(at: transaction.now)
        guard try await self.users.isClosed(user, before: closing, in: transaction) else { return }
        try await self.eraseUser(user, in: transaction)
    }

    private func latestClosing(at now: Date) -> Date { now.addingTimeInterval(-(self.retention / .seconds(1))) }
}
