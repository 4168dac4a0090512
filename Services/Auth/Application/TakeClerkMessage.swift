import Contracts
import Messaging
import Primitives
import Sealing

/// Acts on a message of Clerk whose signature was good, once however often it is delivered.
struct TakeClerkMessage: Sendable {
    let database: EventDatabase
    let webhooks: ClerkWebhookStore
    let users: UserStore
    let closeProfile: CloseProfile
    let endSession: EndSession
    let index: BlindIndex
    var signIns = SignInStore()

    /// Takes a message by the id that all its deliveries share; true when it is stored now for the first time.
    @discardableResult
    func callAsFunction(_ message: ClerkMessage, id: String, cause: Cause) async throws -> Bool {
        guard message != .other else { return false }
        return try await self.database.transaction(cause: cause) { transaction in
            guard try await self.webhooks.insert(id, in: transaction) else { return false }
            switch message {
            case .userDeleted(let subject): try await self.delete(subject, in: transaction)
            case .userTold(let facts): try await self.note(facts, in: transaction)
            case .sessionEnded(let subject, let session):
                try await self.endSession(session, of: UserID(clerkSubject: subject), in: transaction)
            case .other: break
            }
            return true
        }
    }

    /// Closes the profile, and leaves a tombstone also where there is none: a token that is still good, or a message that
    /// comes later, makes no user of it.
    private func delete(_ subject: String, in transaction: EventTransaction) async throws {
        let user = UserID(clerkSubject: subject)
        try await self.users.lockSignUp(user, in: transaction)
        // The user's row first, as whoever corrects details does.
        try await BarFormer(users: self.users).left(user, in: transaction)
        try await self.closeProfile(user, in: transaction)
        let isNew = try await self.signIns.bury(subject: subject, user: user, in: transaction)
        guard isNew, try await !self.users.isKnown(user, in: transaction) else { return }
        // Of somebody who never signed up nothing has to be kept, and the other services have to know.
        try await self.signIns.forget(user, in: transaction)
        let event = UserClosed(userID: user.uuid, closedAt: Timestamp.text(transaction.now))
        try await transaction.publish(event, about: user)
    }

    private func note(_ facts: ClerkMessage.VerifiedFacts, in transaction: EventTransaction) async throws {
        let user = UserID(clerkSubject: facts.subject)
        try await self.users.lockSignUp(user, in: transaction)
        _ = try await self.users.lockIfThere(user, in: transaction)
        let isNews = try await self.signIns.tell(
            VerifiedMarks.all(emails: facts.emails, phones: facts.phones, self.index),
            changedAt: facts.changedAt,
            subject: facts.subject,
            user: user,
            in: transaction
        )
        guard isNews else { return }
        try await ProveContact(users: self.users)(user, in: transaction)
    }
}
