import Messaging
import Primitives

/// Acts on a message of Clerk whose signature was good, once however often it is delivered.
struct TakeClerkMessage: Sendable {
    let database: EventDatabase
    let webhooks: ClerkWebhookStore
    let closeProfile: CloseProfile
    let endSession: EndSession

    /// Takes a message by the id that all its deliveries share; true when it is stored now for the first time.
    @discardableResult
    func callAsFunction(_ message: ClerkMessage, id: String, cause: Cause) async throws -> Bool {
        guard message != .other else { return false }
        return try await self.database.transaction(cause: cause) { transaction in
            guard try await self.webhooks.insert(id, in: transaction) else { return false }
            switch message {
            case .userDeleted(let subject):
                try await self.closeProfile(UserID(clerkSubject: subject), in: transaction)
            case .sessionEnded(let subject, let session):
                try await self.endSession(session, of: UserID(clerkSubject: subject), in: transaction)
            case .other: break
            }
            return true
        }
    }
}
