import Contracts
import Messaging
import Primitives

/// Ends what a session has begun: Clerk gives it no more tokens, and the last one is good for another minute.
struct EndSession: Sendable {
    let users: UserStore
    let sessions: SessionStore

    /// Notes the end and says so; once more, or for nobody, says nothing.
    func callAsFunction(_ session: String, of user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.sessions.end(session, of: user, in: transaction) else { return }
        // Who has not signed up has nothing that could end elsewhere.
        guard try await self.users.exists(user, in: transaction) else { return }
        let event = SessionEnded(
            userID: user.uuid,
            sessionID: session,
            endedAt: Timestamp.text(transaction.now)
        )
        try await transaction.publish(event, about: user)
    }
}
