import Contracts
import Messaging
import Primitives
import Sealing

/// Completes sign-up: the user, the user's data key and `user.created` in one commit.
struct Onboard: Sendable {
    let users: UserStore
    let vault: KeyVault
    let index: BlindIndex

    /// Adds the user.
    ///
    /// - Throws: `AuthError.alreadyOnboarded`, `usernameTaken`, `identityInUse`.
    func callAsFunction(
        _ signUp: SignUp,
        user id: UserID,
        clerkSubject: String,
        in transaction: EventTransaction
    ) async throws -> OnboardingResponse {
        try await self.users.lockSignUp(id, in: transaction)
        let key = DataKey()
        let user = User(
            id: id,
            username: signUp.username.text,
            accountType: signUp.details.identity.accountType,
            status: signUp.details.status,
            verification: Open(.pending),
            details: try key.seal(signUp.details, of: id)
        )
        try await self.users.insert(
            user,
            marks: IdentityMarks(signUp.details.identity, self.index),
            clerkSubject: clerkSubject,
            in: transaction
        )
        try await self.vault.store(key, for: id, in: transaction)
        try await transaction.publish(
            UserCreated(
                userID: id.uuid,
                username: user.username,
                accountType: Open(user.accountType),
                kycDetails: user.details.kyc,
                kybDetails: user.details.kyb,
                contactDetails: user.details.contact
            ),
            about: id
        )
        try await self.users.markDetailsPublished(id, in: transaction)
        return OnboardingResponse(userID: id.uuid, username: user.username, status: user.status.rawValue)
    }
}
